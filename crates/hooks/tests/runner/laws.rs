//! Where the standard library knows the answer, ours is the same.

use crate::{run, spec};
use proptest::prelude::*;
use seamline_hooks::runner::Exit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

/// One line of a small script.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}".prop_map(|words| format!("echo '{words}'")),
        "[a-z ]{0,12}".prop_map(|words| format!("echo '{words}' >&2")),
        (0_u32..200_000).prop_map(|count| format!("head -c {count} /dev/zero")),
        (0_u32..200_000).prop_map(|count| format!("head -c {count} /dev/zero >&2")),
        Just("sleep 0.01".to_owned()),
        Just("cat".to_owned()),
        Just("exec >&-".to_owned()),
        Just("exec 2>&-".to_owned()),
        Just("(sleep 0.01; echo late) & wait".to_owned()),
        (0_i32..256).prop_map(|code| format!("(exit {code})")),
        (0_i32..256).prop_map(|code| format!("exit {code}")),
        prop_oneof![Just("KILL"), Just("USR1")].prop_map(|name| format!("kill -{name} $$")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_script_ends_and_speaks_as_under_the_standard_library(
        lines in prop::collection::vec(line(), 0..6)
    ) {
        let script = lines.join("\n");
        let spec = spec(&script);
        let mut child = Command::new("/bin/sh")
            .args(["-c", &script])
            .env_clear()
            .envs(spec.env.clone())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // May find nobody who reads; that is part of the comparison.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), &spec.stdin);
        let theirs = child.wait_with_output().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ours = runtime.block_on(run(spec));
        let exit = theirs.status.code().map_or_else(
            || Exit::Signal(theirs.status.signal().unwrap()),
            Exit::Code,
        );
        prop_assert_eq!(ours.exit, exit);
        prop_assert!(ours.stdout == theirs.stdout, "standard output of {:?}", script);
        prop_assert!(ours.stderr == theirs.stderr, "standard error of {:?}", script);
    }
}
