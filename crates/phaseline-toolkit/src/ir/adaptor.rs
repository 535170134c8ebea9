//! Operations together with values that stand for their operands, as in the middle of a conversion: MLIR's adaptors. The
//! accessors by name are generated from ODS by `phaseline-build`, one set for each operation; a view has the same names
//! for the operands that the operation itself has.

/// Defines `Adaptor` for the views of a dialect, in the module that has these. Generated code calls it.
#[doc(hidden)]
#[macro_export]
macro_rules! adaptors {
    () => {
        /// The view `V` of an operation, and the value of each of its operands. Accessors of operands give
        /// these values; attributes are those of the view.
        #[derive(Clone, Copy, Debug)]
        pub struct Adaptor<'a, 'c, V> {
            op: V,
            values: &'a [$crate::ir::Val<'c>],
        }

        impl<'a, 'c, V: $crate::ir::view::OpView<'c>> Adaptor<'a, 'c, V> {
            /// The operation with `values` in place of its operands; none if `op` is another operation than
            /// V's, or if it has not as many operands.
            pub fn of(op: $crate::ir::Op<'c>, values: &'a [$crate::ir::Val<'c>]) -> Option<Self> {
                let op = V::of(op)?;
                let count = $crate::ir::operands(op.op()).len();
                (count == values.len()).then_some(Self { op, values })
            }

            /// The operation itself: its accessors give the operands that it has.
            pub fn view(self) -> V {
                self.op
            }

            // The view has seen that there are as many as ODS says.
            fn operands(self, index: usize) -> &'a [$crate::ir::Val<'c>] {
                &self.values[$crate::ir::view::operand_range(self.op.op(), V::INFO, index)]
            }

            fn operand_if_present(self, index: usize) -> Option<$crate::ir::Val<'c>> {
                self.operands(index).first().copied()
            }

            fn operand(self, index: usize) -> $crate::ir::Val<'c> {
                self.operands(index)[0]
            }
        }

        impl<V> ::std::ops::Deref for Adaptor<'_, '_, V> {
            type Target = V;

            fn deref(&self) -> &V {
                &self.op
            }
        }
    };
}
