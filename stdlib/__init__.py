"""What a program can `use`: .dfl files with C kernels; this package only says where they are."""
