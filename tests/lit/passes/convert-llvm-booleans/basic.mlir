// RUN: phaseline-opt %s --convert-llvm-booleans | FileCheck %s

// CHECK-LABEL: llvm.func @copy
// CHECK: %[[BYTE:.*]] = llvm.load %arg0 : !llvm.ptr -> i8
// CHECK: %[[TRUE:.*]] = llvm.icmp "ne" %[[BYTE]], %{{.*}} : i8
// CHECK: %[[STORED:.*]] = llvm.zext %[[TRUE]] : i1 to i8
// CHECK: llvm.store %[[STORED]], %arg1 : i8, !llvm.ptr
llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> i1
  llvm.store %0, %to : i1, !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @masked
// CHECK: %[[BITS:.*]] = llvm.bitcast %arg2 : vector<16xbf16> to vector<16xi16>
// CHECK: %[[WORDS:.*]] = llvm.intr.masked.load %arg0, %arg1, %[[BITS]] {alignment = 2 : i32}{{.*}} -> vector<16xi16>
// CHECK: %[[HALF:.*]] = llvm.bitcast %[[WORDS]] : vector<16xi16> to vector<16xbf16>
// CHECK: %[[STORED:.*]] = llvm.bitcast %[[HALF]] : vector<16xbf16> to vector<16xi16>
// CHECK: llvm.intr.masked.store %[[STORED]], %arg0, %arg1 {alignment = 2 : i32}
// CHECK: llvm.intr.masked.store %arg3, %arg0, %arg4 {{.*}} vector<8xf32>
llvm.func @masked(%p: !llvm.ptr, %mask: vector<16xi1>, %old: vector<16xbf16>, %floats: vector<8xf32>, %other: vector<8xi1>) {
  %0 = llvm.intr.masked.load %p, %mask, %old {alignment = 2 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xbf16>) -> vector<16xbf16>
  llvm.intr.masked.store %0, %p, %mask {alignment = 2 : i32} : vector<16xbf16>, vector<16xi1> into !llvm.ptr
  llvm.intr.masked.store %floats, %p, %other {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  llvm.return
}
