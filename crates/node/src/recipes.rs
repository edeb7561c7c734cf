//! A list of algorithms of which nothing is kept but their recipes.

use std::fmt;
use std::sync::Arc;

use doorway_core::shared::{Program, ProgramEntry};
use doorway_core::{About, Entry, Explain, Hints, Options, Refusal, Registrar};

use crate::Recipe;

/// The algorithms that a node can run, by name: all that embedding a lock needs of a textbook, without simulator and
/// checker.
///
/// ```
/// use doorway_core::Options;
/// use doorway_node::Recipes;
///
/// let mut recipes = Recipes::default();
/// doorway_algorithms::register(&mut recipes);
/// let recipe = recipes.recipe("raymond", &Options::none().with("tree", "chain"))?;
/// assert_eq!(recipe.name(), "raymond --tree chain");
/// # Ok::<(), doorway_core::Refusal>(())
/// ```
#[derive(Clone, Default)]
pub struct Recipes(Vec<Listed>);

#[derive(Clone)]
struct Listed {
    about: About,
    make: Arc<MakeRecipe>,
}

type MakeRecipe = dyn Fn(&Options) -> Result<Recipe, Refusal> + Send + Sync;

impl Recipes {
    /// Adds an algorithm, by the function that makes its recipe from what was chosen.
    pub fn add(
        &mut self,
        about: About,
        make: impl Fn(&Options) -> Result<Recipe, Refusal> + Send + Sync + 'static,
    ) {
        self.0.push(Listed { about, make: Arc::new(make) });
    }

    /// What is told about each algorithm, in the order of the list.
    pub fn abouts(&self) -> impl Iterator<Item = &About> {
        self.0.iter().map(|listed| &listed.about)
    }

    /// What is told about the algorithm of this name.
    #[must_use]
    pub fn about(&self, name: &str) -> Option<&About> {
        self.find(name).map(|listed| &listed.about)
    }

    /// The recipe of the algorithm of this name.
    ///
    /// # Errors
    /// If there is none, or what was chosen does not fit it.
    pub fn recipe(&self, name: &str, options: &Options) -> Result<Recipe, Refusal> {
        let listed = self.find(name);
        let listed = listed.ok_or_else(|| Refusal::new(format!("there is no algorithm {name:?}")))?;
        (listed.make)(options)
    }

    fn find(&self, name: &str) -> Option<&Listed> {
        self.0.iter().find(|listed| listed.about.name == name)
    }
}

impl Registrar for Recipes {
    fn algorithm<A: Explain + Hints>(&mut self, entry: Entry<A>) {
        let about = entry.about.clone();
        self.add(about, move |options| Recipe::of(&entry, options));
    }

    /// Nodes send messages: a program over shared memory is of no use to them.
    fn program<P: Program>(&mut self, _: ProgramEntry<P>) {}
}

impl fmt::Debug for Recipes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|listed| listed.about.name)).finish()
    }
}
