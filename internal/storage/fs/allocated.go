package fs

// Allocated returns the number of bytes that a file occupies on the disk, which is less than its size if it has
// holes. `ok` is false if that is not known.
func Allocated(f File) (bytes int64, ok bool) {
	if file, is := f.(osFile); is {
		return allocated(file.File)
	}
	return 0, false
}
