//! Remedies for operators that are refused.

/// Operators of ONNX, why they are refused, and the remedy.
const REMEDIES: &[(&str, &str)] = &[(
    "Unique",
    "how many elements it gives depends on data; end the model at its input and go on in the program around it",
)];

/// The reason why an operator of ONNX is refused and a remedy, if there is more to say than its
/// name.
pub(super) fn of(domain: &str, op: &str) -> Option<String> {
    let known = REMEDIES.iter().find(|(name, _)| domain.is_empty() && *name == op);
    known.map(|(_, remedy)| (*remedy).to_owned())
}
