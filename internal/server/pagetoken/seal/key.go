package seal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// KeyFile is the name of the file that holds a key, in hexadecimal.
const KeyFile = "page-token.key"

// NewKey returns a new random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // does not fail
	return key
}

// Key returns the key in a folder. If the folder or the key file is missing, Key creates it. The
// file has mode 0600. If several processes create a key at the same time, all get the same key. Key
// returns an error if the file does not contain a key.
func Key(dir string) ([]byte, error) {
	name := filepath.Join(dir, KeyFile)
	key, err := readKey(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, KeyFile+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(hex.EncodeToString(NewKey()) + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	// Unlike a rename, a link does not replace a key that another process has created in
	// the meantime.
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readKey(name)
}

// readKey reads a key from the file `name`, where it is written in hexadecimal digits.
func readKey(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	key := make([]byte, KeySize)
	if len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	if len(text) != hex.EncodedLen(KeySize) {
		return nil, fmt.Errorf("%s has %d characters, expected %d hexadecimal digits; remove the file, and the server writes a new key; existing page tokens then stop working", name, len(text), hex.EncodedLen(KeySize))
	}
	if _, err := hex.Decode(key, text); err != nil {
		return nil, fmt.Errorf("%s does not hold hexadecimal digits; remove the file, and the server writes a new key; existing page tokens then stop working", name)
	}
	return key, nil
}
