"""Sheet: change a spreadsheet until it is as asked, one call at a time."""
