DELETE FROM maintenance
