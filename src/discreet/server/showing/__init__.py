"""What the public and the staff are shown of what is out."""
