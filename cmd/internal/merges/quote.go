package merges

import (
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const quotedWidth = 400 // characters of a quoted line

// lineBreaks replaces all characters that a chat or an agent may take for the end of a line.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// Quote returns text by others as lines that begin with ">", so that a prompt can say which
// of its lines are data. Long lines are wrapped. Characters that do not print become spaces.
// Each line ends with a line break. The quote of blank text is empty.
func Quote(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}

	var quote strings.Builder
	for line := range strings.SplitSeq(lineBreaks.Replace(text), "\n") {
		line = safetext.Printable(line)
		if line == "" {
			quote.WriteString(">\n")
		}
		for part := range slices.Chunk([]rune(line), quotedWidth) {
			quote.WriteString("> " + string(part) + "\n")
		}
	}
	return quote.String()
}

// forChat escapes what Slack, and the chats that understand its messages, treat as markup.
var forChat = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// EscapeForChat escapes text, so that a chat such as Slack or Mattermost shows it literally.
func EscapeForChat(text string) string { return forChat.Replace(text) }
