package ojspgx

import (
	"fmt"
	"net/url"
	"os/user"
	"strings"

	"github.com/jackc/pgx/v5"
)

// relayURL writes down how a pool connects, for the relay, which has a connection of its own.
func relayURL(config *pgx.ConnConfig) (string, error) {
	query := url.Values{}
	mode, err := sslMode(config)
	if err != nil {
		return "", err
	}
	query.Set("sslmode", mode)
	if path := config.RuntimeParams["search_path"]; path != "" {
		query.Set("options", "-c search_path="+strings.ReplaceAll(path, " ", `\ `))
	}
	name := config.User
	if name == "" {
		if current, err := user.Current(); err == nil {
			name = current.Username
		}
	}
	login := url.QueryEscape(name)
	if config.Password != "" {
		login += ":" + url.QueryEscape(config.Password)
	}
	// QueryEscape writes a space as "+", which is a plus sign here.
	login = strings.ReplaceAll(login, "+", "%20")
	return fmt.Sprintf("postgres://%s@%s:%d/%s?%s", login, url.QueryEscape(config.Host), config.Port, url.PathEscape(config.Database),
		strings.ReplaceAll(query.Encode(), "+", "%20")), nil
}

func sslMode(config *pgx.ConnConfig) (string, error) {
	secure := config.TLSConfig
	plain := secure == nil
	for _, fallback := range config.Fallbacks {
		plain = plain || fallback.TLSConfig == nil
	}
	switch {
	case secure == nil:
		return "disable", nil
	case secure.RootCAs != nil || len(secure.Certificates) > 0:
		return "", fmt.Errorf("ojspgx: the pool's certificates are in memory, where the relay cannot read them: " +
			"set OutboxOptions.URL, with sslmode=verify-full&sslrootcert=FILE, or SeparateRelay")
	case plain:
		return "prefer", nil
	case secure.InsecureSkipVerify:
		return "require", nil
	}
	return "verify-full", nil
}
