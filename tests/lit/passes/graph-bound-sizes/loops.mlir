// RUN: phaseline-opt %s --split-input-file --graph-bound-sizes --canonicalize | FileCheck %s

// A loop has room for the greatest number of slices, and runs as many steps as a run gives. A step masks by sizes that are
// captured.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<5x3x2xf32> {{.*}}, %{{.*}}: tensor<3x2xf32> {{.*}}, %[[SIZES:[a-z0-9]+]]: tensor<2xi64>
// CHECK: %[[T:.*]] = graph.gather %[[SIZES]]
// CHECK: graph.scan 5 limit %[[T]] states (%{{.*}} = %{{.*}}) sequences (%{{.*}} = %{{.*}}) captures (%[[INSIDE:.*]] = %[[SIZES]])
// CHECK-SAME: (tensor<3x2xf32>, tensor<5x3x2xf32>, tensor<2xi64>, tensor<i64>) -> (tensor<3x2xf32>, tensor<5x2xf32>)
// CHECK: graph.gather %[[INSIDE]]
// CHECK: graph.less
// CHECK: graph.where
// CHECK: graph.reduce_sum
module attributes {phl.symbols = ["t=1..5", "n=1..3"]} {
  func.func @main(%x: tensor<?x?x2xf32> {phl.name = "x", phl.sizes = ["t", "n", ""]}, %s: tensor<?x2xf32> {phl.name = "s", phl.sizes = ["n", ""]})
      -> (tensor<?x2xf32>, tensor<?x2xf32>) {
    %last, %all = graph.scan ? states (%a = %s) sequences (%v = %x) captures () : (tensor<?x2xf32>, tensor<?x?x2xf32>)
        -> (tensor<?x2xf32>, tensor<?x2xf32>) {
      %next = graph.add %a, %v : tensor<?x2xf32>
      %sum = graph.reduce_sum %next axes = [0] keepdims = false : (tensor<?x2xf32>) -> tensor<2xf32>
      graph.yield %next, %sum : tensor<?x2xf32>, tensor<2xf32>
    }
    return %last, %all : tensor<?x2xf32>, tensor<?x2xf32>
  }
}

// -----

// A state that grows has room for what it is in the end, and its size is one more state.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<2xf32> {{.*}}, %[[N:[a-z0-9]+]]: tensor<i64> {{.*}}) -> (tensor<10xf32>{{.*}}, tensor<1xi64> {phl.name = "counts"})
// CHECK: %[[ROOM:.*]] = graph.pad {{.*}} mode = "undefined" : {{.*}} -> tensor<10xf32>
// CHECK: %[[R:.*]]:2 = graph.scan 8 limit %[[N]] states (%{{.*}} = %[[ROOM]], %[[SIZE:.*]] = %{{.*}})
// CHECK: graph.less %{{.*}}, %[[SIZE]]
// CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<10xf32>, tensor<i64>
// CHECK: %[[COUNT:.*]] = graph.unsqueeze %[[R]]#1
// CHECK: return %[[R]]#0, %[[COUNT]]
module {
  func.func @main(%x: tensor<2xf32> {phl.name = "x"}, %n: tensor<i64> {phl.name = "n"}) -> tensor<?xf32> {
    %y = graph.scan 8 limit %n states (%a = %x) sequences () captures () : (tensor<2xf32>, tensor<i64>) -> tensor<?xf32> {
      %most = graph.reduce_max %a axes = [0] keepdims = true : (tensor<?xf32>) -> tensor<1xf32>
      %next = graph.concat %a, %most axis = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      graph.yield %next : tensor<?xf32>
    }
    return %y : tensor<?xf32>
  }
}
