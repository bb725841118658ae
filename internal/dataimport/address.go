package dataimport

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ParseAddress parses the URL of a PostgreSQL database. It refuses a password among the parameters, where messages would show it. No error
// shows a part of the URL that may have a password.
func ParseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the address of the database is not the URL of a PostgreSQL database; write postgres://user@host/database") // err may repeat a password
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the part of the address of the database after the question mark is malformed; write name=value, with & between")
	}
	for name := range parameters {
		if strings.Contains(strings.ToLower(name), "password") {
			return nil, fmt.Errorf("the address of the database has the parameter %s; remove it, and set PGPASSWORD or write a file .pgpass", name)
		}
	}
	return u, nil
}

// CheckDatabase checks the URL of the database in a map, which must have no password. It is not a fault of Parse, because faults are shown
// with their line, which may have a password.
func (m *Map) CheckDatabase() error {
	u, err := ParseAddress(m.Database)
	if err != nil {
		return fmt.Errorf("database in the map: %w", err)
	}
	if _, has := u.User.Password(); has {
		return errors.New("database in the map has a password, which a file must not hold; remove it, and set PGPASSWORD or write a file .pgpass")
	}
	return nil
}
