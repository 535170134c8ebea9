use super::{Block, Panel, svg};

fn block(offset: u64, size: u64, steps: (usize, usize), name: &str) -> Block {
    Block { offset, size, steps: Some(steps), name: name.to_owned() }
}

fn picture(blocks: Vec<Block>) -> String {
    let (title, remark) = ("SRAM: 128 of 256 bytes".to_owned(), String::new());
    let panel = Panel { rank: 0, title, bytes: 128, remark, blocks };
    svg::text("net", &[panel], &["a".to_owned(), "b<c".to_owned()])
}

#[test]
fn a_buffer_is_where_its_bytes_and_steps_are() {
    let text = picture(vec![block(0, 64, (0, 0), "first"), block(64, 64, (0, 1), "second")]);
    // Half of the height each: the lower one for half of the time, the upper one always.
    assert!(text.contains("x=\"96.0\" y=\"260.0\" width=\"600.0\" height=\"160.0\""), "{text}");
    assert!(text.contains("x=\"96.0\" y=\"100.0\" width=\"1200.0\" height=\"160.0\""), "{text}");
    assert!(text.contains("first\n64 bytes, 0 to 64\nfrom step 0, a\nto step 0, a"), "{text}");
}

#[test]
fn names_cannot_break_the_text() {
    let text = picture(vec![block(0, 128, (0, 1), "a<b & \"c\"\u{7}")]);
    assert!(text.contains("a&lt;b &amp; &quot;c&quot;_"), "{text}");
    assert!(text.contains("b&lt;c") && !text.contains("b<c"), "{text}");
}

#[test]
fn long_names_lose_their_middle() {
    let long = "layer/".repeat(60) + "conv";
    let text = picture(vec![block(0, 128, (0, 0), &long)]);
    assert!(text.contains(">layer/") && text.contains("layer/conv</text>"), "{text}");
    assert!(text.contains('…'), "{text}");
    assert!(!text.contains(&format!(">{long}</text>")));
}
