//! The programs of one version.
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Result;
use crate::scenario::Plan;

/// What was built from one state of the sources.
#[derive(Debug, Clone, Default)]
pub struct Version {
    server: Option<PathBuf>,
    bench: Option<PathBuf>,
    python: Option<PathBuf>,
}

/// The line that `ojs-bench noop` and `noop.py` print.
#[derive(Deserialize)]
struct Noop {
    jobs_per_second: f64,
    cpu_us: Option<f64>,
}

impl Version {
    /// The one that is measured.
    pub fn this(plan: &Plan) -> Result<Self> {
        let python = crate::scenario::python::ours();
        Ok(Self { server: Some(plan.bin.clone()), bench: Some(std::env::current_exe()?), python: Some(python) })
    }

    /// The other one: its `ojs`, its `ojs-bench` or both, in any order, and the Python in which its package is installed. What is not
    /// named is looked for beside what is.
    ///
    /// # Errors
    /// A file that is neither program.
    pub fn of(files: &[PathBuf], python: Option<PathBuf>) -> Result<Self> {
        let mut version = Self { python, ..Self::default() };
        for file in files {
            *match program(file)?.as_str() {
                "ojs" => &mut version.server,
                _ => &mut version.bench,
            } = Some(file.clone());
        }
        let beside = |name: &str| files.iter().map(|file| file.with_file_name(name)).find(|file| file.is_file());
        version.server = version.server.or_else(|| beside("ojs"));
        version.bench = version.bench.or_else(|| beside("ojs-bench"));
        Ok(version)
    }

    /// The plan with this version's server.
    pub fn plan(&self, plan: &Plan) -> Result<Plan> {
        let bin = self.server.clone().ok_or("the other version's `ojs` is needed: --against FILE")?;
        Ok(Plan { bin, ..plan.clone() })
    }

    /// Jobs per second, and microseconds of processor time per job, of this version's worker in Rust.
    pub fn noop(&self, url: &str, slots: usize, jobs: usize) -> Result<Vec<f64>> {
        let bench = self.bench.as_ref().ok_or("the other version's `ojs-bench` is needed: --against FILE")?;
        let mut command = Command::new(bench);
        command.args(["noop", "--url", url, "--concurrency", &slots.to_string(), "--jobs", &jobs.to_string()]);
        let found = line(command)?;
        Ok(vec![found.jobs_per_second, found.cpu_us.unwrap_or(f64::NAN)])
    }

    /// Asked before the turns of Python begin.
    ///
    /// # Errors
    /// No Python is named.
    pub fn has_python(&self) -> Result<()> {
        self.python.is_some().then_some(()).ok_or_else(|| "the other version's Python is needed: --against-python FILE".into())
    }

    /// Jobs per second of this version's worker in Python.
    pub fn python(&self, script: &Path, url: &str, jobs: usize) -> Result<Vec<f64>> {
        self.has_python()?;
        let mut command = Command::new(self.python.as_deref().unwrap_or(Path::new("python3")));
        command.arg(script).args(["--url", url, "--jobs", &jobs.to_string(), "--read-args", "--payload", "150"]);
        Ok(vec![line(command)?.jobs_per_second])
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = [&self.server, &self.bench, &self.python].into_iter().flatten();
        f.write_str(&files.map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "))
    }
}

/// The name that a program says of itself.
fn program(file: &Path) -> Result<String> {
    let output = Command::new(file).arg("--version").output().map_err(|e| format!("cannot start {}: {e}", file.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.split_whitespace().next() {
        Some(name @ ("ojs" | "ojs-bench")) => Ok(name.to_owned()),
        _ => Err(format!("{} is neither `ojs` nor `ojs-bench`: --version says '{}'", file.display(), text.trim()).into()),
    }
}

fn line(mut command: Command) -> Result<Noop> {
    let output = command.output().map_err(|e| format!("cannot start {}: {e}", command.get_program().display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().filter(|_| output.status.success());
    let found = last.and_then(|line| serde_json::from_str(line).ok());
    let said = String::from_utf8_lossy(&output.stderr);
    found.ok_or_else(|| format!("{} failed: {}", command.get_program().display(), said.trim()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by a process of its own: another test that starts a program at this moment would hold the file open for
    /// writing, and such a file cannot be started.
    fn program_in(folder: &Path, file: &str, says: &str) -> PathBuf {
        let path = folder.join(file);
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 755 "$1""#;
        assert!(Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(says).status().unwrap().success());
        path
    }

    #[test]
    fn a_version_is_found_from_either_of_its_programs() {
        let folder = tempfile::tempdir().unwrap();
        let server = program_in(folder.path(), "ojs", "echo ojs 0.0.9");
        let bench = program_in(folder.path(), "ojs-bench", "echo ojs-bench 0.0.9");
        for files in [vec![server.clone()], vec![bench.clone()], vec![bench.clone(), server.clone()]] {
            let version = Version::of(&files, None).unwrap();
            assert_eq!((version.server, version.bench), (Some(server.clone()), Some(bench.clone())));
        }
        let other = program_in(folder.path(), "other", "echo something else");
        let error = Version::of(&[other], None).unwrap_err().to_string();
        assert!(error.contains("neither `ojs` nor `ojs-bench`") && error.contains("something else"), "{error}");
    }

    #[test]
    fn what_the_other_version_lacks_is_named() {
        let none = Version::default();
        assert!(none.noop("memory:", 1, 1).unwrap_err().to_string().contains("`ojs-bench` is needed: --against"));
        assert!(none.python(Path::new("x.py"), "memory:", 1).unwrap_err().to_string().contains("--against-python"));
    }

    #[test]
    fn the_last_line_of_a_worker_counts_and_its_failure_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let says = r#"echo warming; echo '{"jobs_per_second": 5.0, "cpu_us": 2.0}'"#;
        let bench = Some(program_in(folder.path(), "ojs-bench", says));
        assert_eq!(Version { bench, ..Version::default() }.noop("memory:", 1, 1).unwrap(), [5.0, 2.0]);
        let bench = Some(program_in(folder.path(), "broken", "echo no such store >&2; exit 1"));
        let error = Version { bench, ..Version::default() }.noop("memory:", 1, 1).unwrap_err().to_string();
        assert!(error.contains("no such store"), "{error}");
    }
}
