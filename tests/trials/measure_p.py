"""measure_p.py PHASELINE SET: with --pattern first, then whole. Appends to pSET.txt; goes on where it was."""
import json,sys,tempfile,os
from measure import *
M=dict(x.split('=') for x in """brook-03=binary brook-05=product brook-06=product brook-08=gemm brook-12=gemm brook-13=embed brook-14=embed brook-15=binary brook-17=reduce brook-19=join heddle-01=conv2d heddle-03=conv2d heddle-06=depthwise heddle-08=average_pool heddle-09=sum heddle-10=layer_norm heddle-11=conv2d heddle-13=layer_norm heddle-14=average_pool heddle-16=batch_matmul heddle-17=conv2d heddle-19=conv2d nib-02=w4 nib-04=w4 nib-05=w4_rows nib-06=w4 nib-07=w8 nib-09=w8 nib-10=w8 nib-11=embed nib-12=embed nib-18=softmax nib-19=sum nib-20=argmax quern-02=conv2d quern-08=pair quern-09=pair quern-10=pair quern-11=pair quern-12=dense quern-13=product quern-14=sum quern-15=sum quern-16=average_pool quern-19=conv2d quern-20=conv2d weir-01=max_pool weir-02=unary weir-06=conv2d weir-07=pad weir-08=binary weir-10=conv2d weir-13=average_pool weir-14=reduce weir-17=join weir-18=unary weir-19=binary""".split())
M.update(x.split('=') for x in """brook-07=product brook-09=gemm brook-10=softmax brook-11=softmax brook-16=binary brook-18=transpose brook-20=softmax heddle-02=conv2d heddle-04=dense heddle-05=depthwise heddle-07=max_pool heddle-12=dense heddle-15=dense heddle-18=max_pool heddle-20=layer_norm nib-01=w4 nib-03=w4 nib-08=w8 nib-13=rms_norm nib-14=rms_norm nib-15=rms_norm nib-16=gate nib-17=softmax quern-01=conv2d quern-03=conv2d quern-04=conv2d quern-05=conv2d quern-06=conv2d quern-07=pair quern-17=table quern-18=join weir-03=binary weir-04=conv2d weir-05=clip weir-09=unary weir-11=conv2d weir-12=max_pool weir-15=softmax weir-16=reduce""".split())
phl, which = sys.argv[1], sys.argv[2]
only = sys.argv[3].split(',') if len(sys.argv) > 3 else None
state = 'p%s_%s.json' % (which, os.path.basename(phl))
done = json.load(open(state)) if os.path.exists(state) else {}
full = '--full' in sys.argv
for d in json.load(open('defects.json')):
    if d['set'] != which or only and only[0][0]!='-' and d['id'] not in only: continue
    k = d['id']
    if k in done and (done[k][0] or done[k][1] == 'full' or not full): continue
    stages = [M[k]] if k in M and not (full and k in done) else []
    if full or not stages: stages.append(None)
    for st in stages:
        with tempfile.TemporaryDirectory() as f:
            t = copy(d['device'], f); p = t / d['file']; s = p.read_text(); assert s.count(d['from']) == 1
            p.write_text(s.replace(d['from'], d['to']))
            code, text, cpu, wall = check(phl, t, ['--pattern', st] if st else [], 500)
        found = code not in (0, None)
        done[k] = [found, st or 'full', round(cpu), finding(text) if code else str(code)]
        json.dump(done, open(state, 'w'), indent=0)
        print(k, 'found ' if found else 'MISSED', st or 'full', round(cpu), 's', d['why'][:90] if not found else done[k][3][:120], flush=True)
        if found: break
n = len(done); print(sum(v[0] for v in done.values()), 'of', n)
