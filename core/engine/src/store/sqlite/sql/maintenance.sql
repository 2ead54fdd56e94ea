SELECT reason, since, until FROM maintenance
