//! What a lock node owes its clients: one answer to each request whenever it ends, all sections or none, its turn to every
//! node, and no memory of unused names.

mod breaking;
mod forgetting;
mod moments;
mod rules;
mod scene;
mod several;
mod slack;
