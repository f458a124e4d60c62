"""What figures are drawn with: a panel of lines, and what an SVG file needs beyond what matplotlib writes."""
