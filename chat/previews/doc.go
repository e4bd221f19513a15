// Package previews tells what links in messages lead to: a title, a description, a site, a picture. The server fetches each link once a
// day for all of its nodes, in the background. A preview belongs to its link and is shared, but goes out only with messages that have it.
package previews
