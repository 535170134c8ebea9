//! Weights in the header: the argument of a run, and the file that they may be in.

use crate::artifact::{Signature, WeightsFile};

/// Declarations for weights in a file of their own.
pub fn file(name: &str, weights: &WeightsFile) -> String {
    let upper = name.to_uppercase();
    format!(
        "
/* The weights are in the file {file}, which is mapped, read-only, once for all threads. */
#define {upper}_WEIGHTS_FILE \"{file}\"
/* What {name}_run returns, and {name}_load_weights, if they cannot be had. */
#define {upper}_NO_WEIGHTS INT32_MIN
/* Maps the file at `path`, or with NULL the one beside the shared library or, if the static library is linked,
 * beside the program. Returns 0 also if it is mapped already. Looks at the file's size and start; `phaseline
 * verify` compares all of it. */
int32_t {name}_load_weights(const char *path);
/* The weights, which are mapped if they are not yet; NULL if they cannot be had. */
const void *{name}_weights(void);
/* Why they could not be had, in words, with the file; of the last failure in this thread. */
const char *{name}_weights_error(void);
",
        file = weights.file,
    )
}

/// The argument for the constants, and the line that declares it, if it needs one.
pub fn argument(signature: &Signature) -> (String, String) {
    if signature.weights.is_some() {
        let (name, upper) = (&signature.name, signature.name.to_uppercase());
        let found = format!(
            "  const void *const model_weights = {name}_weights();\n  if (!model_weights)\n    return \
             {upper}_NO_WEIGHTS;\n"
        );
        return ("model_weights".to_owned(), found);
    }
    match (signature.pools.is_empty(), signature.constants_bytes) {
        (false, _) => ("model_constants".to_owned(), super::pools::addresses(signature)),
        (true, 0) => ("0".to_owned(), String::new()),
        (true, _) => (format!("{}_constants", signature.name), String::new()),
    }
}
