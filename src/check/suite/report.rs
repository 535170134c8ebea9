//! Results of a suite, as a table and as data.

use serde::Serialize;
use std::fmt;

/// Results of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The device has some of its operations, and the answers are right.
    OnDevice,
    /// The device takes none of its operations.
    OnHost,
    /// The answers are wrong, or it does not compile or run for the device.
    Wrong,
    /// It does not compile or run for the host either, or its data cannot be read.
    Unsupported,
}

impl Outcome {
    /// Description in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::OnDevice => "on device",
            Self::OnHost => "on host",
            Self::Wrong => "wrong",
            Self::Unsupported => "unsupported",
        }
    }
}

/// Share of a network that a device has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Operations that the device has.
    pub on_device: usize,
    /// Operations that the network has, constants aside, when targets are asked.
    pub operations: usize,
    /// The patterns that have them.
    pub patterns: Vec<String>,
    /// Reason why the case is wrong, unsupported or not on the device as a whole.
    pub reason: String,
}

impl Share {
    /// True if the host has some operations.
    pub fn is_partial(&self) -> bool {
        self.on_device < self.operations
    }
}

/// Findings about a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseReport {
    /// Name of the case.
    pub case: String,
    /// Result.
    pub result: Outcome,
    /// Share that the device has of it, on the last of its data.
    #[serde(flatten)]
    pub share: Share,
}

impl CaseReport {
    /// Takes over how the network is divided.
    pub fn take(&mut self, share: Share) {
        self.result = if share.on_device > 0 { Outcome::OnDevice } else { Outcome::OnHost };
        self.share = share;
    }
}

/// Results of a suite for a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteReport {
    /// Id of the target.
    pub target: String,
    /// True if the device's C ran with sanitizers.
    pub sanitized: bool,
    /// The cases in the order of their names.
    pub cases: Vec<CaseReport>,
}

/// Characters of a reason in the table.
const REASON: usize = 100;

impl SuiteReport {
    /// Number of cases with a result.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.result == outcome).count()
    }

    /// The sum of all rows.
    pub fn sum(&self) -> String {
        let sum = |of: &dyn Fn(&CaseReport) -> usize| self.cases.iter().map(of).sum::<usize>();
        format!(
            "{}: {} of {} cases on device, {} on host, {} wrong, {} unsupported; {} of {} operations \
             on device",
            self.target,
            self.count(Outcome::OnDevice),
            self.cases.len(),
            self.count(Outcome::OnHost),
            self.count(Outcome::Wrong),
            self.count(Outcome::Unsupported),
            sum(&|case| case.share.on_device),
            sum(&|case| case.share.operations),
        )
    }
}

impl fmt::Display for SuiteReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.cases.iter().map(|case| case.case.chars().count());
        let width = names.chain([4]).max().unwrap_or_default();
        writeln!(f, "{:width$}  {:11}  {:>9}  reason", "case", "result", "on device")?;
        for case in &self.cases {
            let share = format!("{} of {}", case.share.on_device, case.share.operations);
            let line = case.share.reason.lines().next().unwrap_or_default();
            let mut reason: String = line.chars().take(REASON).collect();
            if reason.len() < line.len() {
                reason.push_str("...");
            }
            let row =
                format!("{:width$}  {:11}  {share:>9}  {reason}", case.case, case.result.text());
            writeln!(f, "{}", row.trim_end())?;
        }
        writeln!(f, "{}", self.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_case_and_a_sum() {
        let case = |name: &str, result, on_device, reason: &str| CaseReport {
            case: name.to_owned(),
            result,
            share: Share { on_device, operations: 2, patterns: vec![], reason: reason.to_owned() },
        };
        let report = SuiteReport {
            target: "toy".to_owned(),
            sanitized: true,
            cases: vec![
                case("conv", Outcome::OnDevice, 2, ""),
                case("longer name", Outcome::Wrong, 1, "y differs\nmore"),
            ],
        };
        assert_eq!(
            report.to_string(),
            "case         result       on device  reason\n\
             conv         on device       2 of 2\n\
             longer name  wrong           1 of 2  y differs\n\
             toy: 1 of 2 cases on device, 0 on host, 1 wrong, 0 unsupported; 3 of 4 operations on \
             device\n"
        );
    }
}
