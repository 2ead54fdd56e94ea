// The address is that of the test: the client is told it by its driver adapter.
export default { schema: 'schema.prisma', datasource: { url: 'postgresql://localhost/none' } };
