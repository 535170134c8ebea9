"""Does each defect compile, and does each manifest still read?"""
import json,subprocess,shutil,tempfile,sys
from pathlib import Path
here=Path(__file__).parent
P="/work/eyes/target/debug/phaseline"
flags={"heddle":["-DHEDDLE_LANES=4"],"quern":["-DQUERN_CORES=2"],"nib":["-DNIB_CORES=2"],"brook":[],"weir":[]}
bad=0
for d in json.loads((here/"defects.json").read_text()):
    with tempfile.TemporaryDirectory() as t:
        f=Path(t)/d["device"]; shutil.copytree(here/d["device"],f)
        p=f/d["file"]; p.write_text(p.read_text().replace(d["from"],d["to"]))
        if d["file"].endswith(".c") or d["file"].endswith(".h"):
            for c in f.glob("*.c"):
                r=subprocess.run(["cc","-O2","-Wall","-Wextra","-Werror","-c",str(c),"-o","/dev/null",*flags[d["device"]]],capture_output=True,text=True)
                if r.returncode: print(d["id"],r.stderr[:400]); bad+=1
        elif d["file"].endswith(".toml"):
            r=subprocess.run([P,"targets",d["device"],"--target-path",str(f)],capture_output=True,text=True)
            if r.returncode: print(d["id"],r.stderr[:400]); bad+=1
        else:
            r=subprocess.run(["python3","-m","py_compile",str(p)],capture_output=True,text=True)
            if r.returncode: print(d["id"],r.stderr[:400]); bad+=1
print("bad",bad)
