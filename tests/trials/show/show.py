"""Shows defects on graphs: show.py PHASELINE [ids]. For each graph: undamaged target and damaged one against the host."""
import json,re,shutil,subprocess,sys,tempfile
from pathlib import Path
import numpy as np
here=Path(__file__).parent; root=here.parent
P=sys.argv[1]; only=sys.argv[2:]
defects={d["id"]:d for d in json.loads((root/"defects.json").read_text())}
def T(*s,t="f32"): return "tensor<"+"x".join(map(str,s))+("x" if s else "")+t+">"
def const(rng,*s,t="f32",lo=-1,hi=1):
    a=rng.uniform(lo,hi,s) if t in("f32","f16") else rng.integers(lo,hi+1,s)
    f=lambda v: "["+", ".join(f(x) for x in v)+"]" if getattr(v,"ndim",0) else (f"{float(v):.4e}" if t in("f32","f16") else str(int(v)))
    return f"dense<{f(a)}> : {T(*s,t=t)}"
rng=np.random.default_rng(3)
G={}
def fn(args,body,res): return f"func.func @main({', '.join(f'%{n}: {t}' for n,t in args)}) -> ({', '.join(t for _,t in res)}) {{\n{body}\n return {', '.join('%'+n for n,_ in res)} : {', '.join(t for _,t in res)}\n}}\n"
def conv(n,c,h,w,o,kh,kw,oh,ow,t="f32",attr="",group=1,bias=False,post=""):
    body=f" %w = graph.constant {const(rng,o,c//group,kh,kw,t=t)}\n"
    ops="%x, %w"; ty=[T(n,c,h,w,t=t),T(o,c//group,kh,kw,t=t)]
    if bias:
        body+=f" %b = graph.constant {const(rng,o,t=t)}\n"; ops+=", %b"; ty.append(T(o,t=t))
    g=f" group = {group}" if group>1 else ""
    body+=f" %y = graph.conv {ops} {attr}{g} : ({', '.join(ty)}) -> {T(n,o,oh,ow,t=t)}"
    return fn([("x",T(n,c,h,w,t=t))],body,[("y",T(n,o,oh,ow,t=t))])
G["heddle-01"]=("",conv(1,4,9,9,8,3,3,7,5,"f16","dilations = [1, 2]"))
G["heddle-02"]=("",conv(1,4,6,6,6,1,1,6,6,"f16"))
G["heddle-03"]=("",conv(1,4,4,4,24,1,1,4,4,"f16"))
G["heddle-05"]=("",conv(1,8,8,8,8,3,3,6,6,"f16","pads = [1, 1, 1, 1] dilations = [2, 2]",group=8))
G["heddle-06"]=("",conv(1,8,8,8,8,3,3,8,8,"f16","pads = [1, 1, 1, 1]",group=8))
G["heddle-17"]=("-lanes=3 -spm=4k -sums=2k",conv(1,256,4,4,16,3,3,4,4,"f16","pads = [1, 1, 1, 1]"))
G["heddle-19"]=("-sums=16k -prefetch=false",conv(1,4,32,32,8,1,1,32,32,"f16"))
G["heddle-16"]=("",fn([("a",T(2,3,4,t="f16")),("b",T(2,4,5,t="f16"))],f" %y = graph.matmul %a, %b : ({T(2,3,4,t='f16')}, {T(2,4,5,t='f16')}) -> {T(2,3,5,t='f16')}",[("y",T(2,3,5,t="f16"))]))
G["heddle-15"]=("-spm=4k",fn([("x",T(4,3000,t="f16"))],f" %w = graph.constant {const(rng,3000,8,t='f16')}\n %b = graph.constant {const(rng,8,t='f16',lo=20,hi=30)}\n %y = graph.gemm %x, %w, %b : ({T(4,3000,t='f16')}, {T(3000,8,t='f16')}, {T(8,t='f16')}) -> {T(4,8,t='f16')}",[("y",T(4,8,t="f16"))]))
def chain(args,lines,res): return fn(args,"\n".join(" "+l for l in lines),res)
x=T(1,2,8,8)
G["weir-01"]=("",chain([("x",x)],[f"%r = graph.relu %x : {x}",f"%y = graph.max_pool %r kernel_shape = [3, 3] strides = [1, 1] pads = [1, 1, 1, 1] : ({x}) -> {x}"],[("y",x)]))
G["weir-02"]=("",chain([("x",x)],[f"%a = graph.relu %x : {x}",f"%b = graph.abs %a : {x}",f"%c = graph.neg %b : {x}",f"%d = graph.tanh %a : {x}",f"%y = graph.mul %c, %d : {x}"],[("y",x)]))
G["weir-04"]=("",conv(1,2,8,8,4,3,3,6,6).replace(" return %y"," %lo = graph.constant dense<-1.0> : tensor<f32>\n %hi = graph.constant dense<1.0> : tensor<f32>\n %z = graph.relu %y : "+T(1,4,6,6)+f"\n %u = graph.clip %z min %lo max %hi : ({T(1,4,6,6)}, tensor<f32>, tensor<f32>) -> {T(1,4,6,6)}\n return %u"))
G["weir-18"]=("-arena=4k",chain([("x",T(2000)),],[f"%a = graph.tanh %x : {T(2000)}",f"%y = graph.neg %a : {T(2000)}"],[("y",T(2000))]))
G["weir-19"]=("",chain([("x",T(1,11))],[f"%a = graph.tanh %x : {T(1,11)}",f"%d = graph.reduce_max %a axes = [1] keepdims = true : ({T(1,11)}) -> {T(1,1)}",f"%y = graph.add %a, %d : ({T(1,11)}, {T(1,1)}) -> {T(1,11)}"],[("y",T(1,11))]))
G["weir-13"]=("",fn([("x",T(1,1,6,6))],f" %y = graph.average_pool %x kernel_shape = [3, 3] strides = [2, 2] pads = [0, 0, 0, 0] ceil_mode = true count_include_pad = true : ({T(1,1,6,6)}) -> {T(1,1,3,3)}",[("y",T(1,1,3,3))]))
G["weir-08"]=("",chain([("a",T(2,3,1)),("b",T(2,3,4))],[f"%y = graph.add %a, %b : ({T(2,3,1)}, {T(2,3,4)}) -> {T(2,3,4)}"],[("y",T(2,3,4))]))
G["weir-20"]=("",chain([("x",T(4,5))],[f"%a = graph.tanh %x : {T(4,5)}",f"%b = graph.neg %a : {T(4,5)}"],[("a",T(4,5)),("b",T(4,5))]))
wi=lambda k,n: f"%q = graph.constant {const(rng,k,n,t='i4',lo=-8,hi=7)}"
def w4(m,k,n,block=0,z=False):
    s=(k//block,n) if block else (n,)
    L=[wi(k,n),f"%s = graph.constant {const(rng,*s,lo=0.1,hi=1)}"]
    at=f"axis = 0 block_size = {block}" if block else "axis = 1"
    L+=[f"%d = graph.dequantize_linear %q, %s {at} : ({T(k,n,t='i4')}, {T(*s)}) -> {T(k,n)}",f"%y = graph.matmul %x, %d : ({T(m,k)}, {T(k,n)}) -> {T(m,n)}"]
    return chain([("x",T(m,k))],L,[("y",T(m,n))])
def w4r(m,k,n,block):
    s=(n,k//block)
    return chain([("x",T(m,k))],[wi(n,k),f"%s = graph.constant {const(rng,*s,lo=0.1,hi=1)}",f"%d = graph.dequantize_linear %q, %s axis = 1 block_size = {block} : ({T(n,k,t='i4')}, {T(*s)}) -> {T(n,k)}",f"%y = graph.gemm %x, %d trans_b = true : ({T(m,k)}, {T(n,k)}) -> {T(m,n)}"],[("y",T(m,n))])
G["nib-01"]=("",w4(2,128,6)); G["nib-04"]=("",w4(2,8,7)); G["nib-05"]=("",w4r(2,32,6,16)); G["nib-06"]=("",w4(2,128,6,32)); G["nib-07"]=("",w4(2,16,10))
G["brook-13"]=("",fn([("x",T(4,5))],f" %i = graph.constant dense<[-1, 2]> : tensor<2xi64>\n %t = graph.tanh %x : {T(4,5)}\n %y = graph.gather %t, %i axis = 0 : ({T(4,5)}, tensor<2xi64>) -> {T(2,5)}",[("y",T(2,5))]))
G["brook-14"]=("",fn([("x",T(4,5))],f" %i = graph.constant dense<[3, 2]> : tensor<2xi32>\n %t = graph.tanh %x : {T(4,5)}\n %y = graph.gather %t, %i axis = 0 : ({T(4,5)}, tensor<2xi32>) -> {T(2,5)}",[("y",T(2,5))]))
class Q:
    def __init__(self): self.n=0; self.L=[]
    def c(self,text):
        self.n+=1; self.L.append(f"%c{self.n} = graph.constant {text}"); return f"%c{self.n}"
    def dq(self,v,shape,t,scale,zero,axis=None):
        self.n+=1; s=self.c(f"dense<{scale}> : tensor<f32>") if not isinstance(scale,list) else self.c(f"dense<{scale}> : {T(len(scale))}")
        zt="" if isinstance(scale,list) else ", "+self.c(f"dense<{zero}> : tensor<{t}>")
        ty=f"({T(*shape,t=t)}, "+(T(len(scale)) if isinstance(scale,list) else f"tensor<f32>, tensor<{t}>")+")"
        r=f"%d{self.n}"; self.L.append(f"{r} = graph.dequantize_linear {v}, {s}{zt} axis = 0 : {ty} -> {T(*shape)}"); return r
    def q(self,v,shape,t,scale,zero):
        s=self.c(f"dense<{scale}> : tensor<f32>"); z=self.c(f"dense<{zero}> : tensor<{t}>"); self.n+=1; r=f"%q{self.n}"
        self.L.append(f"{r} = graph.quantize_linear {v}, {s}, {z} : ({T(*shape)}, tensor<f32>, tensor<{t}>) -> {T(*shape,t=t)}"); return r
    def conv(self,x,xs,ws,ys,scales,attr="",lo=-9,hi=9):
        w=self.dq(self.c(const(rng,*ws,t="i8",lo=lo,hi=hi)),ws,"i8",scales,0); self.n+=1; r=f"%v{self.n}"
        self.L.append(f"{r} = graph.conv {x}, {w} {attr} : ({T(*xs)}, {T(*ws)}) -> {T(*ys)}"); return r
def qconv(t,zx,xs,ws,ys,scales,attr="",sy=0.5,big=0):
    k=Q(); v=k.conv(k.dq("%x",xs,t,0.05,zx if not big else -120),xs,ws,ys,scales,attr,*((90,127) if big else (-9,9))); y=k.q(v,ys,"i8",sy,3); return fn([("x",T(*xs,t=t))],"\n".join(k.L),[(y[1:],T(*ys,t="i8"))])
G["quern-01"]=("",qconv("i8",3,(1,4,5,5),(4,4,1,1),(1,4,5,5),0.1))
G["quern-02"]=("",qconv("i8",3,(1,4,5,5),(8,2,1,1),(1,8,5,5),0.1,"group = 2"))
G["quern-03"]=("",qconv("ui8",128,(1,4,5,5),(8,4,1,1),(1,8,5,5),0.1))
G["quern-05"]=("",qconv("i8",3,(1,32,5,5),(8,32,3,3),(1,8,3,3),0.1,sy=20.0,big=1))
G["quern-06"]=("",qconv("i8",3,(1,4,5,5),(4,4,1,1),(1,4,5,5),[0.1,0.02,0.3,0.7],sy=0.05))
G["quern-19"]=("",qconv("i8",3,(1,16,32,32),(32,16,1,1),(1,32,32,32),0.1))
k=Q(); xs=(1,16,28,28); a=k.q(k.conv(k.dq("%x",xs,"i8",0.05,1),xs,(8,16,1,1),(1,8,28,28),0.1),(1,8,28,28),"i8",0.5,3)
y=k.q(k.conv(k.dq(a,(1,8,28,28),"i8",0.5,3),(1,8,28,28),(16,8,3,3),(1,16,26,26),0.1),(1,16,26,26),"i8",3.0,3)
G["quern-20"]=("",fn([("x",T(*xs,t="i8"))],"\n".join(k.L),[(y[1:],T(1,16,26,26,t="i8"))]))
k=Q(); xs=(4,8); L=k.L
d=k.dq("%x",xs,"i8",0.05,1); L.append(f"%s1 = graph.sigmoid {d} : {T(4,8)}"); a=k.q("%s1",xs,"i8",0.01,1)
d=k.dq(a,xs,"i8",0.01,1); L.append(f"%s2 = graph.sigmoid {d} : {T(4,8)}"); y=k.q("%s2",xs,"i8",0.005,1)
G["quern-17"]=("",fn([("x",T(4,8,t="i8"))],"\n".join(L),[(y[1:],T(4,8,t="i8"))]))
k=Q(); xs=(1,2,3,4); a=k.dq("%x",xs,"i8",0.05,1); b=k.dq("%z",(1,2,1,4),"i8",0.05,1); k.L.append(f"%m = graph.mul {a}, {b} : ({T(*xs)}, {T(1,2,1,4)}) -> {T(*xs)}"); y=k.q("%m",xs,"i8",0.1,1)
G["quern-13"]=("",fn([("x",T(*xs,t="i8")),("z",T(1,2,1,4,t="i8"))],"\n".join(k.L),[(y[1:],T(*xs,t="i8"))]))
k=Q(); a=k.dq("%x",(4,8),"i8",0.05,-40); b=k.dq("%z",(4,8),"i8",0.05,-50); k.L.append(f"%m = graph.add {a}, {b} : {T(4,8)}"); y=k.q("%m",(4,8),"i8",0.05,50)
G["quern-15"]=("",fn([("x",T(4,8,t="i8")),("z",T(4,8,t="i8"))],"\n".join(k.L),[(y[1:],T(4,8,t="i8"))]))
def pair(kh,kw,outs,scales2,relu=True,zq=-20):
    k=Q(); xs=(1,4,6,6); hs=(1,4,7-kh,7-kw); ys=(1,outs,7-kh,7-kw)
    h=k.conv(k.dq("%x",xs,"i8",0.05,1),xs,(4,1,kh,kw),hs,0.1,"group = 4")
    if relu: k.L.append(f"%r = graph.relu {h} : {T(*hs)}"); h="%r"
    q=k.q(h,hs,"i8",0.1,zq); y=k.q(k.conv(k.dq(q,hs,"i8",0.1,zq),hs,(outs,4,1,1),ys,scales2),ys,"i8",0.5,2)
    return fn([("x",T(*xs,t="i8"))],"\n".join(k.L),[(y[1:],T(*ys,t="i8"))])
G["quern-07"]=("",pair(3,3,6,[0.1,0.02,0.3,0.7,0.9,0.05])); G["quern-08"]=("",pair(3,3,4,0.1)); G["quern-10"]=("",pair(3,3,4,0.1)); G["quern-11"]=("",pair(3,1,4,0.1))
G["brook-02"]=("-queues=1 -depth=1",chain([("x",T(4,5))],[f"%a = graph.tanh %x : {T(4,5)}",f"%b = graph.neg %a : {T(4,5)}",f"%y = graph.exp %b : {T(4,5)}"],[("y",T(4,5))]))
G["brook-18"]=("",chain([("x",T(2,3,4))],[f"%a = graph.tanh %x : {T(2,3,4)}",f"%y = graph.transpose %a perm = [1, 2, 0] : ({T(2,3,4)}) -> {T(3,4,2)}"],[("y",T(3,4,2))]))
G["brook-17"]=("",chain([("x",T(2,3,4))],[f"%y = graph.reduce_sum %x axes = [-2] keepdims = true : ({T(2,3,4)}) -> {T(2,1,4)}"],[("y",T(2,1,4))]))
G["brook-12"]=("",chain([("x",T(3,4)),("w",T(4,5))],[f"%y = graph.gemm %x, %w : ({T(3,4)}, {T(4,5)}) -> {T(3,5)}"],[("y",T(3,5))]))
G["brook-08"]=("",chain([("x",T(3,4)),("w",T(4,5)),("c",T(5))],[f"%y = graph.gemm %x, %w, %c beta = 0.5 : ({T(3,4)}, {T(4,5)}, {T(5)}) -> {T(3,5)}"],[("y",T(3,5))]))
G["brook-09"]=("",chain([("x",T(3,4)),("w",T(4,5)),("c",T(3,1))],[f"%y = graph.gemm %x, %w, %c : ({T(3,4)}, {T(4,5)}, {T(3,1)}) -> {T(3,5)}"],[("y",T(3,5))]))
G["brook-05"]=("",chain([("x",T(2,3,4)),("w",T(4,5))],[f"%y = graph.matmul %x, %w : ({T(2,3,4)}, {T(4,5)}) -> {T(2,3,5)}"],[("y",T(2,3,5))]))
G["brook-06"]=("",chain([("x",T(3,4)),("w",T(2,1,4,5))],[f"%y = graph.matmul %x, %w : ({T(3,4)}, {T(2,1,4,5)}) -> {T(2,1,3,5)}"],[("y",T(2,1,3,5))]))
G["brook-16"]=("",chain([("x",T(3,4)),("w",T(1))],[f"%y = graph.add %x, %w : ({T(3,4)}, {T(1)}) -> {T(3,4)}"],[("y",T(3,4))]))
G["brook-10"]=("",chain([("x",T(2,4,5)),("w",T(4,5))],[f"%s = graph.add %x, %w : ({T(2,4,5)}, {T(4,5)}) -> {T(2,4,5)}",f"%y = graph.softmax %s axis = 2 : {T(2,4,5)}"],[("y",T(2,4,5))]))
G["brook-11"]=("",chain([("x",T(2,4,5))],["%k = graph.constant dense<8.0> : tensor<f32>",f"%s = graph.div %x, %k : ({T(2,4,5)}, tensor<f32>) -> {T(2,4,5)}",f"%y = graph.softmax %s axis = 2 : {T(2,4,5)}"],[("y",T(2,4,5))]))
G["brook-20"]=("-row=16",chain([("x",T(2,20))],[f"%y = graph.softmax %x axis = 1 : {T(2,20)}"],[("y",T(2,20))]))
G["brook-07"]=("",chain([("x",T(3,4)),("w",T(4,5))],[f"%m = graph.matmul %x, %w : ({T(3,4)}, {T(4,5)}) -> {T(3,5)}",f"%g = graph.sigmoid %m : {T(3,5)}",f"%y = graph.mul %m, %g : {T(3,5)}"],[("y",T(3,5))]))
G["heddle-13"]=("",chain([("x",T(4,600))],[f"%w = graph.constant {const(rng,600)}",f"%y = graph.layer_norm %x, %w axis = 1 : ({T(4,600)}, {T(600)}) -> {T(4,600)}"],[("y",T(4,600))]))
G["heddle-10"]=("",chain([("x",T(4,6))],[f"%w = graph.constant {const(rng,6)}",f"%y = graph.layer_norm %x, %w axis = 1 : ({T(4,6)}, {T(6)}) -> {T(4,6)}"],[("y",T(4,6))]))
G["heddle-20"]=G["heddle-10"]
G["heddle-04"]=("",fn([("x",T(4,500,t="f16"))],f" %w = graph.constant {const(rng,500,8,t='f16')}\n %y = graph.matmul %x, %w : ({T(4,500,t='f16')}, {T(500,8,t='f16')}) -> {T(4,8,t='f16')}",[("y",T(4,8,t="f16"))]))
pool=lambda op,a,o: fn([("x",T(1,4,7,9,t="f16"))],f" %y = graph.{op} %x kernel_shape = [3, 3] {a} : ({T(1,4,7,9,t='f16')}) -> {T(*o,t='f16')}",[("y",T(*o,t="f16"))])
G["heddle-08"]=("",pool("average_pool","strides = [2, 1] pads = [1, 1, 1, 1]",(1,4,4,9)))
G["heddle-14"]=("",pool("average_pool","strides = [2, 1] pads = [1, 1, 1, 1] count_include_pad = true",(1,4,4,9)))
G["heddle-18"]=("",pool("max_pool","strides = [1, 2] pads = [1, 1, 1, 1]",(1,4,7,5)))
G["heddle-09"]=("",chain([("x",T(3,4,t="f16")),("w",T(3,4,t="f16"))],[f"%m = graph.sub %x, %w : {T(3,4,t='f16')}",f"%y = graph.relu %m : {T(3,4,t='f16')}"],[("y",T(3,4,t="f16"))]))
G["heddle-12"]=G["heddle-04"]
G["heddle-11"]=("",conv(1,64,6,6,6,3,3,4,4,"f16").replace(" return %y"," %lo = graph.constant dense<0.0> : tensor<f16>\n %hi = graph.constant dense<6.0> : tensor<f16>\n"+f" %u = graph.clip %y min %lo max %hi : ({T(1,6,4,4,t='f16')}, tensor<f16>, tensor<f16>) -> {T(1,6,4,4,t='f16')}\n return %u"))
G["weir-03"]=("-order=demand",chain([("x",T(3,4))],[f"%a = graph.relu %x : {T(3,4)}",f"%b = graph.neg %x : {T(3,4)}",f"%y = graph.add %a, %b : {T(3,4)}"],[("y",T(3,4))]))
G["weir-16"]=("",chain([("x",T(3,4))],[f"%y = graph.reduce_max %x axes = [0] keepdims = true : ({T(3,4)}) -> {T(1,4)}"],[("y",T(1,4))]))
G["weir-06"]=("",conv(1,2,6,6,4,2,2,6,6,attr="pads = [0, 0, 1, 1]"))
G["weir-10"]=("",conv(1,4,6,6,4,2,2,5,5,group=2)); G["weir-11"]=("",conv(1,4,6,6,4,3,1,4,6))
G["weir-12"]=("",fn([("x",T(1,2,4,6))],f" %y = graph.max_pool %x kernel_shape = [2, 2] : ({T(1,2,4,6)}) -> {T(1,2,3,5)}",[("y",T(1,2,3,5))]))
G["weir-17"]=("",chain([("x",T(3,2)),("z",T(3,4))],[f"%y = graph.concat %x, %z axis = 1 : ({T(3,2)}, {T(3,4)}) -> {T(3,6)}"],[("y",T(3,6))]))
G["weir-07"]=("",chain([("x",T(3,2))],["%p = graph.constant dense<[0, 1, 0, 0]> : tensor<4xi64>",f"%y = graph.pad %x, %p : ({T(3,2)}, tensor<4xi64>) -> {T(3,3)}"],[("y",T(3,3))]))
G["nib-14"]=("",chain([("x",T(3,8)),("r",T(8))],[f"%w = graph.constant {const(rng,8)}",f"%h = graph.add %x, %r : ({T(3,8)}, {T(8)}) -> {T(3,8)}",f"%y = graph.rms_norm %h, %w axis = 1 : ({T(3,8)}, {T(8)}) -> {T(3,8)}"],[("y",T(3,8))]))
G["nib-15"]=("",chain([("x",T(3,3000))],[f"%w = graph.constant {const(rng,3000)}",f"%y = graph.rms_norm %x, %w axis = 1 : ({T(3,3000)}, {T(3000)}) -> {T(3,3000)}"],[("y",T(3,3000))]))
G["nib-16"]=("",chain([("x",T(3,8)),("u",T(3,8))],[f"%h = graph.gelu %x : {T(3,8)}",f"%y = graph.mul %h, %u : {T(3,8)}"],[("y",T(3,8))]))
G["nib-18"]=("",chain([("x",T(2,3,4,t="f16"))],[f"%y = graph.softmax %x axis = 1 : {T(2,3,4,t='f16')}"],[("y",T(2,3,4,t="f16"))]))
def w8(xs,n,scale):
    ss=(n,) if scale else ()
    return chain([("x",T(*xs))],[f"%q = graph.constant {const(rng,xs[-1],n,t='i8',lo=-90,hi=90)}",f"%s = graph.constant {const(rng,*ss,lo=0.1,hi=1) if scale else 'dense<0.1> : tensor<f32>'}",f"%d = graph.dequantize_linear %q, %s axis = 1 : ({T(xs[-1],n,t='i8')}, {T(*ss)}) -> {T(xs[-1],n)}",f"%y = graph.matmul %x, %d : ({T(*xs)}, {T(xs[-1],n)}) -> {T(*xs[:-1],n)}"],[("y",T(*xs[:-1],n))])
G["nib-08"]=("",w8((3,8),6,0)); G["nib-09"]=("",w8((3,8),8,1)); G["nib-10"]=("",w8((2,3,8),8,1))
G["quern-04"]=G["quern-06"]
k=Q(); xs=(5,7); d=k.dq("%x",xs,"i8",0.05,9); w=k.dq(k.c(const(rng,6,7,t="i8",lo=-90,hi=90)),(6,7),"i8",0.1,0)
k.L.append(f"%g = graph.gemm {d}, {w} trans_b = true : ({T(5,7)}, {T(6,7)}) -> {T(5,6)}"); y=k.q("%g",(5,6),"i8",0.5,1)
G["quern-12"]=("",fn([("x",T(5,7,t="i8"))],"\n".join(k.L),[(y[1:],T(5,6,t="i8"))]))
G["quern-14"]=("",pair(3,3,4,0.1))
k=Q(); a=k.dq("%x",(3,4),"i8",0.07,3); b=k.dq("%z",(3,4),"i8",0.09,-5); k.L.append(f"%m = graph.concat {a}, {b} axis = 1 : ({T(3,4)}, {T(3,4)}) -> {T(3,8)}"); y=k.q("%m",(3,8),"i8",0.05,1)
G["quern-18"]=("",fn([("x",T(3,4,t="i8")),("z",T(3,4,t="i8"))],"\n".join(k.L),[(y[1:],T(3,8,t="i8"))])); G["quern-14"]=G["quern-18"]
k=Q(); xs=(1,2,6,6); a=k.dq("%x",xs,"i8",0.05,-30); k.L.append(f"%m = graph.average_pool {a} kernel_shape = [3, 1] pads = [1, 0, 1, 0] count_include_pad = true : ({T(*xs)}) -> {T(*xs)}"); y=k.q("%m",xs,"i8",0.05,1)
G["quern-16"]=("",fn([("x",T(*xs,t="i8"))],"\n".join(k.L),[(y[1:],T(*xs,t="i8"))]))
G["nib-02"]=("",chain([("x",T(3,8))],[f"%q = graph.constant {const(rng,8,6,t='i4',lo=-8,hi=7)}",f"%s = graph.constant {const(rng,6,lo=0.1,hi=1)}",f"%z = graph.constant {const(rng,6,t='i4',lo=-8,hi=7)}",f"%d = graph.dequantize_linear %q, %s, %z axis = 1 : ({T(8,6,t='i4')}, {T(6)}, {T(6,t='i4')}) -> {T(8,6)}",f"%y = graph.matmul %x, %d : ({T(3,8)}, {T(8,6)}) -> {T(3,6)}"],[("y",T(3,6))]))
emb=lambda n,ids: chain([("x",T(n,4,t="i8"))],[f"%s = graph.constant {const(rng,n,lo=0.1,hi=1)}",f"%z = graph.constant {const(rng,n,t='i8',lo=-8,hi=7)}",f"%i = graph.constant dense<{ids}> : tensor<2xi64>",f"%d = graph.dequantize_linear %x, %s, %z axis = 0 : ({T(n,4,t='i8')}, {T(n)}, {T(n,t='i8')}) -> {T(n,4)}",f"%y = graph.gather %d, %i axis = 0 : ({T(n,4)}, tensor<2xi64>) -> {T(2,4)}"],[("y",T(2,4))])
G["nib-11"]=("",emb(6,[3,5])); G["nib-12"]=("",emb(40000,[35000,39999]))
G["nib-13"]=("",chain([("x",T(3,8)),("r",T(3,8))],[f"%w = graph.constant {const(rng,8)}",f"%h = graph.add %x, %r : {T(3,8)}",f"%y = graph.rms_norm %h, %w axis = 1 : ({T(3,8)}, {T(8)}) -> {T(3,8)}"],[("y",T(3,8))]))
G["nib-19"]=("",chain([("x",T(3,5,t="f16")),("r",T(5,t="f16"))],[f"%y = graph.add %x, %r : ({T(3,5,t='f16')}, {T(5,t='f16')}) -> {T(3,5,t='f16')}"],[("y",T(3,5,t="f16"))]))
def run(spec,path,mlir,out):
    r=subprocess.run([P,"run",str(mlir),"-t",spec,*(["--target-path",str(path)] if path else []),"--random-inputs","1","--outputs",str(out)],capture_output=True,text=True)
    return r.stderr.strip().splitlines()[-1][:120] if r.returncode else None
def diff(a,b):
    a,b=np.load(a),np.load(b); return max(float(np.max(np.where(np.isnan(b[k].astype(float)),1e9,np.abs(a[k].astype(float)-b[k].astype(float))))) for k in a.files)
for id,(opts,text) in G.items():
    if only and id not in only: continue
    d=defects[id]
    with tempfile.TemporaryDirectory() as t:
        t=Path(t); m=t/"m.mlir"; m.write_text(text)
        e=run("llvm",None,m,t/"h.npz")
        if e: print(id,"host:",e); continue
        f=t/d["device"]; shutil.copytree(root/d["device"],f); spec=f"{d['device']} {opts}, llvm"
        e=run(spec,f,m,t/"g.npz"); good=e or diff(t/"h.npz",t/"g.npz")
        p=f/d["file"]; p.write_text(p.read_text().replace(d["from"],d["to"]))
        e=run(spec,f,m,t/"b.npz"); bad=e or diff(t/"h.npz",t/"b.npz")
        print(id,"good",good,"bad",bad,flush=True)
