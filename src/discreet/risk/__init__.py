"""What an intruder could learn, from the side of the custodian, who has the table."""
