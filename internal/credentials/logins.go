package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// LoginsName is the path of the file of logins, as messages show it. Only its owner may read it.
const LoginsName = "~/.omnigraph/logins.json"

// loginService is the service of the entries of the keyring with the tokens of logins.
const loginService = "omnigraph login"

// loginEntry is a login in the file. Its tokens are in the file if the system has no keyring.
type loginEntry struct {
	Login
	Tokens *Tokens `json:"tokens,omitempty"` // nil if they are in the keyring
}

// loginFile returns the path of the file of logins.
func loginFile() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".omnigraph", "logins.json"), err
}

// loginKey returns the name of a server in the file and in the keyring.
func loginKey(server string) string { return strings.TrimRight(server, "/") }

// readLogins reads the file of logins, by server.
func readLogins() (map[string]loginEntry, error) {
	all := map[string]loginEntry{}
	path, err := loginFile()
	if err != nil {
		return all, nil // without a home folder there are none
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	if err := private(path); err != nil {
		return nil, err
	}
	if json.Unmarshal(text, &all) != nil { // its error could show a part of a token
		return nil, fmt.Errorf("%s is not a file of logins; delete it, and log in again", path)
	}
	return all, nil
}

// writeLogins replaces the file of logins.
func writeLogins(all map[string]loginEntry) error {
	path, err := loginFile()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), "logins-*.json") // with mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(append(text, '\n'))
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil { // after a power failure, the file is the old one or this one
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// lockLogins waits until no other process changes the logins, and returns a function that lets others change them.
func lockLogins(ctx context.Context) (unlock func(), err error) {
	path, err := loginFile()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errSlow)
	defer cancel()
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		d, err := fs.OS().LockDir(dir, "logins.lock")
		var held *fs.LockedError
		if !errors.As(err, &held) {
			return func() { _ = d.Close() }, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another command has held the lock of %s for %v: %w", dir, timeLimit, context.Cause(ctx))
		case <-retry.C:
		}
	}
}

// readLogin returns the login at a server with its tokens, or nil if there is none.
func readLogin(ctx context.Context, server string) (*Login, *Tokens, error) {
	all, err := readLogins()
	e, ok := all[loginKey(server)]
	if err != nil || !ok {
		return nil, nil, err
	}
	if e.Tokens != nil {
		return &e.Login, e.Tokens, nil
	}
	text, err := inKeyring(ctx, func() (string, error) { return keyring.Get(loginService, loginKey(server)) })
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return &e.Login, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("the keyring cannot be read: %w", err)
	}
	tokens := &Tokens{}
	if json.Unmarshal([]byte(text), tokens) != nil {
		return &e.Login, nil, nil
	}
	return &e.Login, tokens, nil
}

// storeLogin stores a login: its tokens in the keyring of the system if there is one that takes them, or else in the file.
//
// REQUIRES: lockLogins.
func storeLogin(ctx context.Context, server string, l Login, tokens Tokens) error {
	all, err := readLogins()
	if err != nil {
		return err
	}
	text, err := json.Marshal(tokens)
	if err != nil {
		return err
	}
	e := loginEntry{Login: l}
	if _, err := inKeyring(ctx, func() (string, error) { return "", keyring.Set(loginService, loginKey(server), string(text)) }); err != nil {
		e.Tokens = &tokens
	}
	if old, ok := all[loginKey(server)]; ok && old == e { // neither has tokens
		return nil
	}
	all[loginKey(server)] = e
	return writeLogins(all)
}

// StoreLogin stores a login, in place of an earlier one at the same server. It returns the place of the tokens, for a message.
func StoreLogin(ctx context.Context, server string, l Login, tokens Tokens) (place string, err error) {
	unlock, err := lockLogins(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := storeLogin(ctx, server, l, tokens); err != nil {
		return "", err
	}
	all, err := readLogins()
	if all[loginKey(server)].Tokens != nil {
		return LoginsName, err
	}
	return "the keyring", err
}

// FindLogin returns the login at a server without reading its tokens, or nil if there is none.
func FindLogin(server string) (*Login, error) {
	all, err := readLogins()
	e, ok := all[loginKey(server)]
	if err != nil || !ok {
		return nil, err
	}
	return &e.Login, nil
}

// ForgetLogin removes the login at a server, and returns it with the tokens that it had. The login is nil if there was none; the tokens
// are nil if they were gone. If the keyring that has the tokens cannot be read, the login stays.
func ForgetLogin(ctx context.Context, server string) (*Login, *Tokens, error) {
	unlock, err := lockLogins(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	all, err := readLogins()
	e, ok := all[loginKey(server)]
	if err != nil || !ok {
		return nil, nil, err
	}
	_, tokens, err := readLogin(ctx, server)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; unlock the keyring and log out again, or the tokens would stay in it", err)
	}
	// The keyring may have tokens of an earlier login although those of this one are in the file.
	_, err = inKeyring(ctx, func() (string, error) { return "", keyring.Delete(loginService, loginKey(server)) })
	if err != nil && e.Tokens == nil && !errors.Is(err, keyring.ErrNotFound) {
		return nil, nil, fmt.Errorf("remove the tokens from the keyring: %w", err)
	}
	delete(all, loginKey(server))
	return &e.Login, tokens, writeLogins(all)
}
