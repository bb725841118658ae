package seal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// KeyFile is the name of the file that holds a key, in hexadecimal.
const KeyFile = "page-token.key"

// NewKey returns a new random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // does not fail
	return key
}

// Variable is the environment variable with the keys of a process that does not keep them with its data.
const Variable = "OMNIGRAPH_PAGE_TOKEN_KEY"

// FromEnvironment returns the keys in an environment variable. It returns no keys if the variable is empty.
func FromEnvironment(getenv func(string) string) (Keys, error) {
	text := getenv(Variable)
	if text == "" {
		return Keys{}, nil
	}
	list, err := ParseKeys(text)
	if err != nil {
		return Keys{}, fmt.Errorf("the environment variable %s: %w; openssl rand -hex %d makes a key", Variable, err, KeySize)
	}
	return Keys{List: list}, nil
}

// ParseKeys returns the keys in a text: one or two of them in hexadecimal digits, separated by a comma or by
// white space, the newest first. The error does not repeat the text.
func ParseKeys(text string) ([][]byte, error) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(parts) == 0 || len(parts) > MaxKeys {
		return nil, fmt.Errorf("there are %d keys, expected 1 to %d", len(parts), MaxKeys)
	}
	list := make([][]byte, len(parts))
	for i, part := range parts {
		if len(part) != hex.EncodedLen(KeySize) {
			return nil, fmt.Errorf("key %d has %d characters, expected %d hexadecimal digits", i+1, len(part), hex.EncodedLen(KeySize))
		}
		var err error
		if list[i], err = hex.DecodeString(part); err != nil {
			return nil, fmt.Errorf("key %d does not consist of hexadecimal digits", i+1)
		}
	}
	return list, nil
}

// FromFolder returns the keys in a folder. If the folder or the file is missing, FromFolder creates it with one
// key. The file has mode 0600. If several processes create it at the same time, all get the same key. FromFolder
// returns an error if the file does not contain keys.
func FromFolder(dir string) (Keys, error) {
	list, err := folderKeys(dir)
	return Keys{List: list, Again: func(context.Context) ([][]byte, error) { return readKeys(filepath.Join(dir, KeyFile)) }}, err
}

// folderKeys is FromFolder without the function that reads the keys again.
func folderKeys(dir string) ([][]byte, error) {
	name := filepath.Join(dir, KeyFile)
	keys, err := readKeys(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
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
	return readKeys(name)
}

// readKeys reads the keys in a file.
func readKeys(name string) ([][]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list, err := ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct or remove the file: without it, the server writes a new key, and existing page tokens stop working", name, err)
	}
	return list, nil
}
