package demo

import (
	"fmt"
	"strings"
)

// file is one that a message carries.
type file struct{ name, kind, bytes string }

// checklist is a page of PDF.
func checklist() file {
	lines := []string{"Trailmap 2.0: release checklist", "", "[x] Offline maps load in under 2 s", "[x] Screens reviewed in English, Arabic and Chinese",
		"[x] Crash-free sessions above 99.8%", "[x] Tile servers doubled until Sunday", "[ ] Everyone on 2.0"}
	var text strings.Builder
	text.WriteString("BT /F1 14 Tf 72 760 Td 22 TL\n")
	for _, l := range lines {
		fmt.Fprintf(&text, "(%s) Tj T*\n", l)
	}
	text.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	// PDF 32000-1, 7.5: a table of where each object begins ends the file.
	var page, table strings.Builder
	page.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", page.Len())
		fmt.Fprintf(&page, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	n := len(objects) + 1
	fmt.Fprintf(&page, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", n, table.String(), n, page.Len())
	return file{"release-checklist.pdf", "application/pdf", page.String()}
}

// notes is a text file.
func notes() file {
	return file{"release-notes.txt", "text/plain", `Trailmap 2.0

New
- Offline maps: download a region once, walk it without a network.
- Arabic, with every screen from right to left.
- Elevation profiles for all routes.

Better
- Maps appear twice as fast.
- The compass stays steady when the phone wakes up.
`}
}
