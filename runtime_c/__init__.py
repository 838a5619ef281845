"""The C11 library that generated programs link with; this package only says where it is."""
