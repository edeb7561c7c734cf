//! Tests of the settings of a run.

use super::*;

#[test]
fn what_people_type_is_read_as_they_mean_it() {
    assert_eq!("light:500".parse(), Ok(Load::Light(500)));
    assert_eq!("active:3".parse(), Ok(Load::Active(3)));
    assert_eq!("10".parse(), Ok(Span::Constant(10)));
    assert_eq!("uniform:5:15".parse(), Ok(Span::Uniform(5, 15)));
    assert_eq!("exponential:10".parse(), Ok(Span::Exponential(10)));
}

#[test]
fn what_is_printed_can_be_typed_again() {
    for word in ["saturated", "isolated", "light:500", "active:3", "only:2+3"] {
        assert_eq!(word.parse::<Load>().expect(word).to_string(), word);
    }
    for word in ["10", "uniform:5:15", "exponential:10"] {
        assert_eq!(word.parse::<Span>().expect(word).to_string(), word);
    }
    for word in ["10", "uniform:5:15", "senders:5,10,15"] {
        assert_eq!(word.parse::<Latency>().expect(word).to_string(), word);
    }
}

#[test]
fn nonsense_is_refused_in_one_sentence_that_shows_what_is_right() {
    for word in ["", "light", "light:", "light:x", "active:-1", "heavy"] {
        let sentence = word.parse::<Load>().expect_err("nonsense").to_string();
        assert!(sentence.contains("as in light:500"), "{sentence}");
    }
    for word in ["", "uniform:5", "exponential", "-3", "99999999999999999999", "x"] {
        let sentence = word.parse::<Span>().expect_err("nonsense").to_string();
        assert!(sentence.contains("as in uniform:5:15"), "{sentence}");
    }
    let refused = |word: &str| word.parse::<Span>().expect_err("it cannot be").to_string();
    assert_eq!(refused("uniform:9:5"), "\"uniform:9:5\" ends before it begins: uniform:5:9 would be right");
    let too_long = "\"1099511627777\" is too long: a span is at most 1099511627776 ticks";
    assert_eq!(refused("1099511627777"), too_long);
}

#[test]
fn settings_that_do_not_fit_together_are_refused() {
    let refusal = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        settings.check().expect_err("it does not fit").to_string()
    };
    assert_eq!(refusal(|s| s.nodes = 0), "a system needs at least one node");
    assert_eq!(refusal(|s| s.nodes = 10_000_001), "a simulation has at most 10000000 nodes, not 10000001");
    assert_eq!(refusal(|s| s.start = Start::Inside(NodeId::new(5))), "there is no node 6: nodes are 1 to 5");
    assert_eq!(refusal(|s| s.load = Load::Active(6)), "only 5 nodes can be active, not 6");
    let too_long = "18446744073709551615 ticks are too long: times are at most 1099511627776";
    assert_eq!(refusal(|s| s.local_latency = Ticks(u64::MAX)), too_long);
    assert_eq!(refusal(|s| s.load = Load::Light(u64::MAX)), too_long);
    assert_eq!(refusal(|s| s.hold = Span::Uniform(9, 5)), "a span cannot end before it begins: uniform:9:5");
    assert_eq!(refusal(|s| s.warmup = 1_000), "a warm-up of 1000 entries leaves none of 1000 to measure");
    assert!(refusal(|s| (s.order, s.nodes) = (true, 65)).contains("at most 64 nodes"));
    let typed = |word: &str| word.parse::<Intervention>().expect(word);
    let messages = |words: &[&str]| {
        let messages = words.iter().map(|word| typed(word)).collect();
        let settings = Settings { messages, ..Settings::default() };
        settings.check().expect_err("it does not fit").to_string()
    };
    assert_eq!(messages(&["3@1", "3:lost"]), "message 3 cannot have two fates: leave out 3@1 or 3:lost");
    assert_eq!(messages(&["3:twice@18446744073709551615"]), too_long);
    let matrix = Latency::matrix("1 2\n3 4").expect("two rows");
    assert_eq!(
        matrix.check(3).expect_err("too few").to_string(),
        "the latency matrix has 2 rows for 3 nodes"
    );
}
