-- Who has claimed lately is looked for from the newest lease of a node: however many dead ones there are, they are not walked.
DROP INDEX ratchet.lease_node;
CREATE INDEX lease_node ON ratchet.lease (node, at);
