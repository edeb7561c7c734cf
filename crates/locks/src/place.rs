//! The place of the value that a lock protects. This is where the unsafe code of the locks is, but for one call of it in `guard`;
//! the adapters have a little of their own.
#![allow(unsafe_code)]

#[cfg(not(doorway_loom))]
use core::{cell::UnsafeCell, ptr::NonNull};
#[cfg(doorway_loom)]
use loom::cell::{MutPtr, UnsafeCell};

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// A value that one process at a time may use; the callers of `open` see to that.
pub struct ExclusiveCell<T>(UnsafeCell<T>);

// SAFETY: through a shared place one gets at the value only by `open`, whose caller promises that no other does at the
// same time. So threads take turns with the value, for which it must be `Send`.
unsafe impl<T: Send> Sync for ExclusiveCell<T> {}

/// The use of the value, as long as it lasts. With loom it is watched: two at once are a failure of the test.
///
/// It is a pointer and not a `&mut T`, as it is still there, unused, while a guard's drop lets the next process in.
pub struct Open<'a, T> {
    #[cfg(not(doorway_loom))]
    pointer: NonNull<T>,
    #[cfg(doorway_loom)]
    pointer: MutPtr<T>,
    /// It is sent and shared as what it stands for.
    borrow: PhantomData<&'a mut T>,
}

// SAFETY: it stands for a `&mut T`, which is `Send` if `T` is.
unsafe impl<T: Send> Send for Open<'_, T> {}
// SAFETY: it stands for a `&mut T`, which is `Sync` if `T` is: sharing it gives out `&T`.
unsafe impl<T: Sync> Sync for Open<'_, T> {}

impl<T> ExclusiveCell<T> {
    at_rest_fn! {
        pub fn new(value: T) -> Self {
            Self(UnsafeCell::new(value))
        }
    }

    /// The value, to one that holds the place alone.
    #[cfg(not(doorway_loom))]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value, to one that holds the place alone.
    #[cfg(doorway_loom)]
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` says that there is no other reference to the place.
        self.0.with_mut(|pointer| unsafe { &mut *pointer })
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }

    /// The value, to one process that is inside.
    ///
    /// # Safety
    ///
    /// From this call until the result is dropped there is no other `Open` of this place, and what was done through
    /// earlier ones has happened before.
    #[inline]
    pub unsafe fn open(&self) -> Open<'_, T> {
        #[cfg(not(doorway_loom))]
        // SAFETY: the pointer of a cell is not null.
        let pointer = unsafe { NonNull::new_unchecked(self.0.get()) };
        #[cfg(doorway_loom)]
        let pointer = self.0.get_mut();
        Open { pointer, borrow: PhantomData }
    }
}

impl<T> Deref for Open<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        #[cfg(not(doorway_loom))]
        // SAFETY: the caller of `open` promised that this is the only way to the value as long as it lasts.
        let value = unsafe { self.pointer.as_ref() };
        #[cfg(doorway_loom)]
        // SAFETY: the same.
        let value = unsafe { self.pointer.deref() };
        value
    }
}

impl<T> DerefMut for Open<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        #[cfg(not(doorway_loom))]
        // SAFETY: the caller of `open` promised that this is the only way to the value, and `&mut self` that it is
        // not in use.
        let value = unsafe { self.pointer.as_mut() };
        #[cfg(doorway_loom)]
        // SAFETY: the same.
        let value = unsafe { self.pointer.deref() };
        value
    }
}
