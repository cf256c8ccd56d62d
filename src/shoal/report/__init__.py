"""What a person looks at: pictures and, later, reports."""
