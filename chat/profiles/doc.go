// Package profiles is what users show of themselves: a name, a picture, a status and data of the application. A profile is one record
// beside its user, so a change is one write whatever the number of groups. Batches name the versions of profiles from the memory of
// their node; what has changed is published to all nodes as small tables are (package table).
package profiles
