// What a program finds around it. Everything it could tamper with is taken aside first.
((submit, print, names) => {
  "use strict";
  const { create, defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, is, prototype } = Object;
  const { isArray } = Array;
  const { isFinite } = Number;
  const { ownKeys } = Reflect;
  const { stringify, parse } = JSON;
  const hasOwn = Function.prototype.call.bind(prototype.hasOwnProperty);
  const then = Function.prototype.call.bind(Promise.prototype.then);
  const push = Function.prototype.call.bind(Array.prototype.push);
  const join = Function.prototype.call.bind(Array.prototype.join);
  const ArrayPrototype = Array.prototype;
  const { Promise: Later, TypeError: Wrong, String: Text } = globalThis;
  const Program = getPrototypeOf(async function () {}).constructor;

  // JSON without loss: what JSON cannot say is an error, not left out.
  const DEEPEST = 100;
  const encode = (value, path, depth) => {
    if (depth > DEEPEST) throw new Wrong(`${path} is nested too deeply, or contains itself`);
    switch (typeof value) {
      case "string":
      case "boolean":
        return stringify(value);
      case "number":
        if (!isFinite(value) || is(value, -0)) throw new Wrong(`${path} is ${is(value, -0) ? "-0" : value}, which is not JSON`);
        return stringify(value);
      case "object":
        if (value === null) return "null";
        return isArray(value) ? list(value, path, depth) : object(value, path, depth);
      default:
        throw new Wrong(`${path} is of type ${typeof value}, which is not JSON`);
    }
  };
  const slot = (owner, key, path) => {
    const found = getOwnPropertyDescriptor(owner, key);
    if (!found.enumerable) throw new Wrong(`${path} has a hidden property, which is not JSON`);
    return hasOwn(found, "value") ? found.value : owner[key];
  };
  const list = (value, path, depth) => {
    const { length } = value;
    if (ownKeys(value).length !== length + 1 || getPrototypeOf(value) !== ArrayPrototype)
      throw new Wrong(`${path} is no plain array without gaps, which is not JSON`);
    const parts = [];
    for (let index = 0; index < length; index++) {
      if (!hasOwn(value, index)) throw new Wrong(`${path} has a gap, which is not JSON`);
      push(parts, encode(slot(value, index, path), `${path}[${index}]`, depth + 1));
    }
    return `[${join(parts, ",")}]`;
  };
  const object = (value, path, depth) => {
    const proto = getPrototypeOf(value);
    if (proto !== null && proto !== prototype) throw new Wrong(`${path} is no plain object, which is not JSON`);
    const parts = [];
    const keys = ownKeys(value);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index];
      if (typeof key !== "string") throw new Wrong(`${path} has a symbol for a key, which is not JSON`);
      push(parts, `${stringify(key)}:${encode(slot(value, key, path), `${path}.${key}`, depth + 1)}`);
    }
    return `{${join(parts, ",")}}`;
  };

  const waiting = create(null);
  let last = 0;
  const call = (name, args) =>
    new Later((resolve, reject) => {
      const text = encode(args === undefined ? {} : args, "the argument", 0);
      waiting[++last] = { resolve, reject };
      submit(last, name, text);
    });
  const tools = create(null);
  for (let index = 0; index < names.length; index++) {
    const name = names[index];
    defineProperty(tools, name, { value: async (args) => call(name, args), enumerable: true });
  }
  freeze(tools);

  const shown = (value) => {
    if (typeof value === "string") return value;
    try {
      return stringify(value) ?? Text(value);
    } catch {
      return Text(value);
    }
  };
  const log = (...values) => {
    const parts = [];
    for (let index = 0; index < values.length; index++) push(parts, shown(values[index]));
    print(join(parts, " "));
  };
  const console = freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log });

  let outcome = "";
  const failed = (error) => {
    let name = "";
    let message = "";
    try {
      const isError = error instanceof Error;
      name = isError ? Text(error.name) : "";
      message = isError ? Text(error.message) : shown(error);
    } catch {
      message = "<unprintable thrown value>";
    }
    outcome = stringify({ ok: false, name, message });
  };
  const done = (value) => {
    try {
      outcome = `{"ok":true,"value":${encode(value === undefined ? null : value, "the returned value", 0)}}`;
    } catch (error) {
      failed(error);
    }
  };
  return {
    run: (source) => {
      let program;
      try {
        program = new Program("tools", "console", `"use strict";${source}`);
      } catch (error) {
        failed(error);
        return;
      }
      then(program(tools, console), done, failed);
    },
    settle: (id, ok, text) => {
      const { resolve, reject } = waiting[id];
      delete waiting[id];
      if (ok) resolve(parse(text));
      else reject(new Error(text));
    },
    outcome: () => outcome,
  };
})
