//! Pictures that verbs write to files: SVG or PNG, as the name of the file ends.

use std::path::Path;

use doorway_core::Refusal;
use doorway_picture::Drawing;

use crate::Destination;

/// A picture to be written: its file is checked before the work begins.
#[derive(Debug)]
pub struct Picture {
    destination: Destination,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
}

impl Picture {
    /// Checks the name of a picture: `.svg` or `.png`.
    ///
    /// # Errors
    /// If the name says neither SVG nor PNG, or the file cannot be there.
    pub fn new(path: &Path) -> Result<Self, Refusal> {
        Ok(Self { form: form(path)?, destination: Destination::new(path)? })
    }

    /// Writes it.
    ///
    /// # Errors
    /// If it is too large for its form, or cannot be written.
    pub fn write(&self, drawing: &Drawing) -> Result<(), Refusal> {
        let bytes = match self.form {
            Form::Svg => drawing.svg.clone().into_bytes(),
            Form::Png => drawing.png()?,
        };
        self.destination.write(|file| file.write_all(&bytes))
    }
}

fn form(path: &Path) -> Result<Form, Refusal> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(Form::Svg),
        Some("png") => Ok(Form::Png),
        Some(_) | None => {
            Err(Refusal::new(format!("{} cannot be drawn: a picture ends in .svg or .png", path.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_decides_its_form() {
        let form = |name: &str| form(Path::new(name)).map_err(|refusal| refusal.to_string());
        assert_eq!((form("a.svg"), form("b.c.PNG")), (Ok(Form::Svg), Ok(Form::Png)));
        for name in ["run", "run.pdf", ".svg"] {
            assert_eq!(form(name), Err(format!("{name} cannot be drawn: a picture ends in .svg or .png")));
        }
    }
}
