package ojs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// said is what a database or a server answers: a value, or an error.
type said struct {
	Value any
	Error string
}

// speaking is a database that has one answer.
type speaking struct {
	said
	asked []string
}

func (s *speaking) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errors.New("nothing is written here")
}

func (s *speaking) TextRows(_ context.Context, query string) ([][]string, error) {
	if !strings.Contains(query, "pg_control_system") {
		return nil, errors.New("another query: " + query)
	}
	s.asked = append(s.asked, "database")
	if s.Error != "" {
		return nil, errors.New(s.Error)
	}
	text, _ := s.Value.(string)
	return [][]string{{text}}, nil
}

func TestVectorsOfTheSameDatabase(t *testing.T) {
	type detection struct {
		Name             string
		Wanted           *bool
		Database, Server said
		Calls            []struct {
			Asked           []string
			Shared          bool
			Lasting, Reason any // What the core keeps and logs.
		}
	}
	for _, vector := range ReadVectors[detection](t, "vectors.json", "detections") {
		t.Run(vector.Name, func(t *testing.T) {
			database := &speaking{said: vector.Database}
			asked := make(chan string, 10)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.URL.Path
				w.Header().Set("content-type", "application/openjobspec+json")
				if vector.Server.Error != "" {
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = w.Write([]byte(`{"error":{"code":"backend_error","message":"refused"}}`))
					return
				}
				_ = json.NewEncoder(w).Encode(vector.Server.Value)
			}))
			defer server.Close()
			client, err := NewClient(server.URL, WithMaxSends(1))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			same := newSameDatabase(client, OutboxOptions{Dialect: PostgreSQL, SameDatabase: vector.Wanted, Database: database})
			for _, call := range vector.Calls {
				database.asked = []string{}
				shared := same.holds(t.Context())
				if len(asked) == 1 && strings.HasSuffix(<-asked, "/health") {
					database.asked = append(database.asked, "server")
				}
				if shared != call.Shared || shared != same.known() || !reflect.DeepEqual(database.asked, call.Asked) {
					t.Errorf("shared %t after asking %v, want %+v", shared, database.asked, call)
				}
			}
		})
	}
}

func TestVectorsOfStatements(t *testing.T) {
	type statements struct {
		Name, Database, Table, Staged, Notify string
		Migration                             []string
		InEngine                              bool `json:"in_engine"`
	}
	for _, vector := range ReadVectors[statements](t, "vectors.json", "statements") {
		t.Run(vector.Name, func(t *testing.T) {
			made, err := OutboxMigration(vector.Database, vector.Table)
			staged, wrong := stagedQuery(vector.Database, vector.Table, vector.InEngine)
			if err := errors.Join(err, wrong); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(made, vector.Migration) || staged != vector.Staged || notifyStatement() != vector.Notify {
				t.Errorf("%q, %q, %q", made, staged, notifyStatement())
			}
		})
	}
}
