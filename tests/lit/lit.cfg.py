"""Configuration of the FileCheck tests; `make lit` runs them."""

import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
tools = os.environ.get("PHASELINE_BIN_DIR", os.path.join(root, "target", "debug"))
llvm = os.environ.get("LLVM_BIN_DIR", "/usr/lib/llvm-22/bin")

config.name = "phaseline"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(root, "build", "lit")
config.environment["PATH"] = os.pathsep.join([tools, llvm, os.environ["PATH"]])
# Lit's tests have no other variables than those that it names.
for name in ("CCACHE_DIR", "CCACHE_SLOPPINESS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%{root}", root))
config.substitutions.append(("%{tools}", tools))
# `make lit` has made it, `cargo build` alone has not.
if os.path.exists(os.path.join(tools, "libbits.so")):
    config.available_features.add("rust-plugin")
config.substitutions.append(("%{data}", os.path.join(root, "build", "test-data")))
config.substitutions.append(("%{python}", os.path.join(root, ".venv", "bin", "python")))
# Runs a command that has to fail well, and prints its message.
config.substitutions.append(("%{fails}", "bash " + os.path.join(root, "tests", "lit", "fails.sh")))
# The names of all phases in order, and of those that passes run in.
phases = r"phaseline compile --help | sed -n '/^Phases/,/^$/s/^[* ] \([a-z-]*\)  .*/\1/p'"
config.substitutions.append(("%{phases}", f"$({phases})"))
config.substitutions.append(("%{phases-with-passes}", f"$({phases} | grep -v ^import)"))
