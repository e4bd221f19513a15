// Package migrations holds the schema of the archive: a folder for each database engine, run by store/archive.
package migrations

import "embed"

// Files has the folders sqlite and postgres. A file is named <version>_<subject>.sql and never changes after a release.
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
