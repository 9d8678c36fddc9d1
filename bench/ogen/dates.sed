# A date in a query, which is a day or an instant, becomes a string.
/^        - type: string/,/format: date/d
s/^      anyOf:/      type: string/
