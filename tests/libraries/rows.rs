//! Layers of one-dimensional networks, which are images of one row to `dnnl`.

use super::layers::{Layer, constant, model, with_activations};

/// Convolutions with all that follows them, and pools.
pub fn rows() -> Vec<Layer> {
    let pool = "strides = [2] pads = [1, 1] dilations = [1]";
    let pools = format!(
        "  %0 = graph.max_pool %x0 kernel_shape = [3] {pool} : (!x) -> !y\n  \
         %1 = graph.average_pool %x0 kernel_shape = [3] {pool} : (!x) -> !y\n  \
         %2 = graph.average_pool %x0 kernel_shape = [3] {pool} count_include_pad = true : (!x) -> !y\n"
    );
    vec![
        with_activations(
            "conv1d",
            &[&[2, 6, 17], &[2, 4, 9]],
            &[2, 4, 9],
            &[("w", &[4, 3, 3]), ("b", &[4])],
            "%s = graph.conv %x0, %w, %b strides = [2] pads = [1, 3] dilations = [2] group = 2 : \
             (!x, tensor<4x3x3xf32>, tensor<4xf32>) -> !y",
        ),
        with_activations(
            "deconv1d, bias added",
            &[&[2, 4, 9], &[2, 4, 18]],
            &[2, 4, 18],
            &[("w", &[4, 2, 4]), ("b", &[4, 1])],
            "%a = graph.conv_transpose %x0, %w strides = [2] pads = [1, 2] dilations = [1] group = 2 \
             output_padding = [1] : (!x, tensor<4x2x4xf32>) -> !y\n  \
             %s = graph.add %a, %b : (!y, tensor<4x1xf32>) -> !y",
        ),
        // Uneven pads, dilation, and no bias.
        model(
            "deconv2d",
            &[&[1, 4, 5, 6]],
            &[1, 3, 11, 16],
            &(constant("w", &[4, 3, 3, 2])
                + "  %0 = graph.conv_transpose %x0, %w strides = [2, 3] pads = [0, 1, 2, 2] dilations = [2, 3] : \
                   (!x, tensor<4x3x3x2xf32>) -> !y\n"),
            &["%0"],
        ),
        model("pools of rows", &[&[2, 6, 17]], &[2, 6, 9], &pools, &["%0", "%1", "%2"]),
    ]
}
