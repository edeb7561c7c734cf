//! The forms are made from the schema: every setting has a control, also one that the page has never heard of.

use doorway_catalog::settings::{SettingKind, schema};
use serde_json::json;

use crate::machine::browse;

doorway_catalog::settings! {
    /// A spec with settings that no page knows.
    pub struct LongerSpec {
        /// Colour of the token
        token_colour: String { value: "red|blue", usual: "red", offers: &["red", "blue"] }
        /// Paint it
        paint: bool { usual: "off", kind: SettingKind::Switch }
    }
}

/// The settings that should have a control and have none.
const MISSING: &str = "(async () => {
    const { RUN, CHECK } = await import('/settings.js');
    const other = 'Programs over shared memory';
    const wanted = location.hash.startsWith('#/run') ? RUN : CHECK.filter(({ part }) => part !== other);
    const isMissing = ({ name, hidden }) => !hidden && !document.querySelector(`[data-name=\"${name}\"]`);
    window.missing = wanted.filter(isMissing).map(({ name }) => name);
    window.asked = wanted.length;
})()";

#[test]
fn every_setting_has_a_control_in_its_form() {
    browse(async |page| {
        for (hash, form) in [("#/run", "#algorithm"), ("#/check?tab=one", "#check-form")] {
            page.open(hash).await;
            page.until("there is a form", &format!("!!document.querySelector('{form}')")).await;
            page.value(&format!("{MISSING}, true")).await;
            page.until("the schema was read", "window.asked > 5").await;
            assert_eq!(page.value("window.missing").await, json!([]), "{hash}");
        }
    });
}

#[test]
fn a_setting_added_in_one_place_has_a_control() {
    browse(async |page| {
        page.open("#/run").await;
        let rows = schema::<LongerSpec>();
        let script = format!(
            "import('/settings.js').then(({{ control }}) => {{
                window.made = {rows}.map((row) => control(row, null, (value) => (window.changed = value)));
                document.body.append(...window.made); // an input outside of a document fires no change
                window.made[1].querySelector('input').click();
            }}), true"
        );
        page.value(&script).await;
        page.until("there are two controls", "window.made?.length === 2").await;
        let told = "[made[0].textContent, made[0].title, made[0].querySelector('select').value, made[1].textContent, window.changed]";
        let told = page.value(&format!("(() => {{ const made = window.made; return {told}; }})()")).await;
        assert_eq!(told, json!(["Token colourredblue", "Colour of the token", "red", "Paint", true]));
    });
}
