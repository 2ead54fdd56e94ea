package org.openjobspec;

/** Something with a form of its own on the wire. */
interface JsonForm {
    /** A value that {@link Json#write} takes. */
    Object toJson();
}
