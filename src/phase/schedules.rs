//! Schedules in the transform dialect, which upstream passes keep outside of the IR.

use super::{Phase, TargetPipelines};
use crate::{Error, Result};

/// The upstream pass that loads a library of schedules, in the transform dialect, for all passes
/// after it, and the one that applies them.
const LOADS_SCHEDULES: &str = "transform-preload-library";
const APPLIES_SCHEDULES: &str = "transform-interpreter";

/// Fails if targets load schedules that would mix, or if a compile that resumes after phase `after`
/// would apply schedules that only earlier phases load. Libraries of schedules belong to a compile
/// as a whole, and are not in the IR.
pub fn check_schedules(targets: &[TargetPipelines], after: Phase) -> Result<()> {
    let phases_with = |target: &TargetPipelines, pass: &str| -> Vec<Phase> {
        let found = target.phases.iter().filter(|(_, text)| text.contains(pass));
        found.map(|(phase, _)| *phase).collect()
    };
    let mut loader: Option<&str> = None;
    for target in targets {
        let loads = phases_with(target, LOADS_SCHEDULES);
        let Some(first) = loads.first() else { continue };
        if let Some(other) = loader.replace(&target.id) {
            return Err(Error::unsupported(format!(
                "targets '{other}' and '{}' both load schedules with {LOADS_SCHEDULES}, and a \
                 compile has one library of them: put the schedules of both into one file that one \
                 of them loads",
                target.id
            )));
        }
        let lost = phases_with(target, APPLIES_SCHEDULES)
            .into_iter()
            .find(|phase| *phase > after && !loads.iter().any(|l| *l > after && l <= phase));
        if let Some(phase) = lost {
            return Err(Error::invalid(format!(
                "phase {phase} of target '{}' applies schedules that its phase {first} loads; they \
                 are not in the IR: go on from a phase before {first}",
                target.id
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_that_would_mix_or_are_lost_are_errors() {
        let target = |id: &str, phases: &[(Phase, &str)]| TargetPipelines {
            id: id.to_owned(),
            phases: phases.iter().map(|(phase, text)| (*phase, (*text).to_owned())).collect(),
            ..Default::default()
        };
        let load = "transform-preload-library{transform-library-paths=a.mlir}";
        let a = target("a", &[(Phase::Lower, load), (Phase::TirSchedule, "transform-interpreter")]);
        let b = target("b", &[(Phase::TirPost, load), (Phase::TirPost, "transform-interpreter")]);
        let none = TargetPipelines::default();
        assert!(check_schedules(&[a.clone(), none.clone()], Phase::Import).is_ok());
        let error = check_schedules(&[a.clone(), none, b.clone()], Phase::Import);
        assert!(error.expect_err("mix").to_string().contains("targets 'a' and 'b' both load"));
        let error = check_schedules(std::slice::from_ref(&a), Phase::Lower).expect_err("are lost");
        assert!(error.to_string().contains("go on from a phase before lower"), "{error}");
        assert!(check_schedules(&[a], Phase::TirSchedule).is_ok());
        assert!(check_schedules(&[b], Phase::Lower).is_ok());
    }
}
