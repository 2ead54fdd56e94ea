# frozen_string_literal: true

class CreateUsers < ActiveRecord::Migration[6.1]
  def change
    create_table(:users) { |t| t.string :email }
  end
end
