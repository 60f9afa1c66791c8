//! Pages that are unlike others.
