"""The query screen: schema, editor, results, history, saved queries."""
