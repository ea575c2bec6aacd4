//! The turn reducer.
